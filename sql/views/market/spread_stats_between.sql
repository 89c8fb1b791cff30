-- How tight were the order books within any window?
--
--   SELECT * FROM spread_stats_between(from_at = '2026-01-05 12:00', to_at = '2026-01-05 18:00') ORDER BY average_spread LIMIT 10
--
-- The window is (from_at, to_at], UTC. One row per market, over its ticks within the window that are not
-- repeated. A tick is valid until the next one of its market, the last one until to_at, but only while the event was observed
-- on the order book stream: gaps have no weight. Averages and quantiles are weighted by that time. A tick whose last price is
-- 0 or 1 is the resolution of the market: it ends the tick before it and is left out.
--   spread         = ask - bid, where neither side is empty and the book is not crossed (bid above ask)
--   average_spread = sum(spread x seconds) / sum(seconds), over the ticks that have a spread
--   two_sided      = seconds with both sides / all seconds, crossed books among them; NULL without observed time
-- The observed time of a tick is the difference of two sums: the observed time of the event up to the next tick, and up
-- to the tick itself (seen, microseconds).
-- Crossed books stay in price_ticks, because the exchange sent them, but have no spread: they are counted.
CREATE OR REPLACE VIEW {database}.spread_stats_between
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `ticks` UInt64 COMMENT 'Rows of price_ticks within the window that are neither repeated nor a resolution',
    `crossed_ticks` UInt64 COMMENT 'Ticks whose bid was above the ask: left out of every spread',
    `average_spread` Nullable(Float64) COMMENT 'Average over time, 0 to 1; NULL when there was no spread',
    `median_spread` Nullable(Float64) COMMENT 'Median over time, 0 to 1',
    `p90_spread` Nullable(Float64) COMMENT '90th percentile over time, 0 to 1',
    `min_spread` Nullable(Float64) COMMENT 'Smallest spread, 0 to 1',
    `max_spread` Nullable(Float64) COMMENT 'Largest spread, 0 to 1',
    `two_sided` Nullable(Float64) COMMENT 'Fraction of the observed time in which there were both a bid and an ask, 0 to 1; NULL when nothing was observed',
    `seconds` Float64 COMMENT 'Observed time from the first tick to the end of the window'
)
AS
SELECT
    CAST(event, 'String') AS event,
    CAST(market, 'String') AS market,
    ticks,
    crossed_ticks,
    if(spread_micros > 0, weighted_spread / spread_micros, NULL) AS average_spread,
    if(spread_micros > 0, quantiles[1], NULL) AS median_spread,
    if(spread_micros > 0, quantiles[2], NULL) AS p90_spread,
    min_spread,
    max_spread,
    if(micros > 0, both_micros / micros, NULL) AS two_sided,
    micros / 1e6 AS seconds
FROM
(
    SELECT
        event,
        market,
        count() AS ticks,
        countIf(bid > ask) AS crossed_ticks,
        sum(lasted) AS micros,
        sumIf(lasted, isNotNull(bid) AND isNotNull(ask)) AS both_micros,
        sumIf(lasted, isNotNull(spread)) AS spread_micros,
        sumIf(assumeNotNull(spread) * lasted, isNotNull(spread)) AS weighted_spread,
        quantilesExactWeightedIf(0.5, 0.9)(assumeNotNull(spread), lasted, isNotNull(spread)) AS quantiles,
        min(spread) AS min_spread,
        max(spread) AS max_spread
    FROM
    (
        SELECT
            event,
            market,
            is_resolution,
            bid,
            ask,
            if(bid <= ask, ask - bid, NULL) AS spread,
            toUInt64(greatest(0, leadInFrame(seen, 1, observed_total) OVER later - seen)) AS lasted
        FROM
        (
            SELECT
                ticks.event AS event,
                market,
                is_resolution,
                bid,
                ask,
                received_at,
                `_offset`,
                `_index`,
                observed_before + greatest(0, least(dateDiff('microsecond', begins, received_at), dateDiff('microsecond', begins, ends))) AS seen,
                observed_total
            FROM
            (
                SELECT event, market, is_resolution, bid, ask, received_at, `_offset`, `_index`
                FROM {database}.price_ticks
                WHERE received_at > parseDateTime64BestEffort({from_at:String}, 6, 'UTC')
                    AND received_at <= parseDateTime64BestEffort({to_at:String}, 6, 'UTC') AND NOT repeated
            ) AS ticks
            -- The last range that had begun by then; each has the sum of those before it and of all, and the first one is empty.
            ASOF LEFT JOIN
            (
                SELECT
                    event,
                    range.1 AS begins,
                    range.2 AS ends,
                    observed_before,
                    arraySum(lengths) AS observed_total
                FROM
                (
                    SELECT
                        event,
                        arrayPushFront(ranges, (toDateTime64(0, 6, 'UTC'), toDateTime64(0, 6, 'UTC'))) AS all_ranges,
                        parseDateTime64BestEffort({to_at:String}, 6, 'UTC') AS window_end,
                        arrayMap(range -> dateDiff('microsecond', least(range.1, window_end), least(range.2, window_end)), all_ranges) AS lengths
                    FROM {database}.completeness_ranges
                    WHERE stream = 'order-book'
                )
                ARRAY JOIN all_ranges AS range, arrayMap((sum, own) -> sum - own, arrayCumSum(lengths), lengths) AS observed_before
            ) AS observed ON ticks.event = observed.event AND ticks.received_at >= observed.begins
        )
        WINDOW later AS (PARTITION BY event, market ORDER BY received_at, `_offset`, `_index` ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
    )
    WHERE NOT is_resolution
    GROUP BY event, market
);
