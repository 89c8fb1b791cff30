-- Do the closing chances of the exchange's own candles equal those of our live points?
--
--   SELECT period, state, count() FROM candle_audit(from_at = '2026-01-05', to_at = '2026-01-06') GROUP BY period, state
--
-- One row per aggregated point of chance history that was fetched (part 6.2: period end and closing probability) and whose period ends in
-- [from_at, to_at). Left out are points of the period `raw`, which are no candles, and points that were requested without a period, which
-- may be none. All times are the exchange's. live_chance is the last chance that was received live
-- (chance_points) before the end of the period, searched in the 7 days before from_at and since;
-- chances that were fetched from history are not used, so the two are independent. `state`:
--   equal
--   skipped       different, and the exchange sent another chance in its history: chance_backfills has a later one within the period
--   not observed  different, and the event was not observed on the chance stream from our point to the end of the period
--   unknown       there is no live chance before the end of the period
--   different     none of these
CREATE OR REPLACE VIEW {database}.candle_audit
(
    `event` String COMMENT 'Event ID; empty when the response has the market only',
    `market` String COMMENT 'Market ID',
    `period` String COMMENT 'Period code of the request, such as 5M',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'End of the period, by the exchange',
    `state` String COMMENT 'equal, skipped, not observed, unknown or different',
    `exchange_chance` Float64 COMMENT 'Closing probability of YES by the exchange, 0 to 1',
    `live_chance` Nullable(Float64) COMMENT 'Last live chance before the end of the period, 0 to 1; NULL without one',
    `difference` Nullable(Float64) COMMENT 'live_chance - exchange_chance, in points of probability: -1 to 1; NULL without a live chance',
    `live_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of live_chance, by the exchange'
)
AS
SELECT
    event,
    market,
    period,
    ends_at,
    multiIf(
        live_at IS NULL, 'unknown',
        live_chance = exchange_chance, 'equal',
        backfilled_at > live_at AND backfilled_chance = exchange_chance, 'skipped',
        NOT arrayExists(range -> range.1 <= live_at AND range.2 >= ends_at, ranges), 'not observed',
        'different'
    ) AS state,
    exchange_chance,
    live_chance,
    live_chance - exchange_chance AS difference,
    live_at
FROM
-- On the left of the join, so that ClickHouse computes it only for the events that are needed.
(
    SELECT event, groupArray((begins_at, ends_at)) AS ranges
    FROM {database}.observed_ranges
    WHERE stream = 'chance' AND ends_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC') AND begins_at <= parseDateTime64BestEffort({to_at:String}, 6, 'UTC')
    GROUP BY event
) AS observed
RIGHT JOIN
(
    SELECT
        event,
        market,
        period,
        ends_at,
        exchange_chance,
        if(last_live_at = 0, NULL, last_live_chance) AS live_chance,
        if(last_live_at = 0, NULL, last_live_at) AS live_at,
        backfilled_at,
        backfilled_chance
    FROM
    (
        -- Not ASOF joins, through which ClickHouse does not push a filter by market.
        SELECT
            event,
            market,
            period,
            moment AS ends_at,
            is_fetched,
            exchange_chance,
            max(points.live_at) OVER before AS last_live_at,
            argMax(points.live, points.live_at) OVER before AS last_live_chance,
            max(points.backfill_at) OVER before AS backfilled_at,
            argMax(points.backfill, points.backfill_at) OVER before AS backfilled_chance
        FROM
        (
            SELECT
                toString(event) AS event, toString(market) AS market, toString(period) AS period, occurred_at AS moment, true AS is_fetched, toFloat64(chance) AS exchange_chance,
                toDateTime64(0, 6, 'UTC') AS live_at, 0. AS live, toDateTime64(0, 6, 'UTC') AS backfill_at, 0. AS backfill
            FROM {database}.chance_history_points FINAL
            WHERE period NOT IN ('raw', '') AND occurred_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC') AND occurred_at < parseDateTime64BestEffort({to_at:String}, 6, 'UTC')
            UNION ALL
            SELECT
                '' AS event, toString(market) AS market, '' AS period, occurred_at AS moment, false AS is_fetched, 0. AS exchange_chance,
                moment AS live_at, argMax(toFloat64(chance), (chance_points.received_at, `_offset`, `_index`)) AS live, toDateTime64(0, 6, 'UTC') AS backfill_at, 0. AS backfill
            FROM {database}.chance_points
            WHERE source IN ('last-known', 'change') AND NOT repeated AND occurred_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC') - toIntervalDay(7) AND occurred_at < parseDateTime64BestEffort({to_at:String}, 6, 'UTC')
            GROUP BY market, occurred_at
            UNION ALL
            SELECT
                '' AS event, market, '' AS period, occurred_at AS moment, false AS is_fetched, 0. AS exchange_chance,
                toDateTime64(0, 6, 'UTC') AS live_at, 0. AS live, occurred_at AS backfill_at, toFloat64(chance) AS backfill
            FROM {database}.chance_backfills
            WHERE occurred_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC') - toIntervalDay(7) AND occurred_at < parseDateTime64BestEffort({to_at:String}, 6, 'UTC')
        ) AS points
        -- A point at the end of a period is that of the next one.
        WINDOW before AS (PARTITION BY market ORDER BY moment, is_fetched DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    )
    WHERE is_fetched
) AS closes USING (event);
