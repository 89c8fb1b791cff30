-- What did the price of every resolved market forecast, 1 hour to 30 days before its close?
--
-- One row per weighting, market resolved yes or no (resolutions), and horizon: 1 h, 6 h, 1 d, 3 d, 7 d and 30 d before close_at, of
-- markets that were open by then (events.created_at; if absent, first listed). Void and unresolved markets are left out.
--   close_at    = the earliest known one of: the planned end of trading, the first price of 0 or 1 after the last trade price (which is
--                 the step of the resolution and no forecast), the final chance and the first payout. Some are by the exchange, some
--                 by our clock: the difference of the clocks is small against an hour.
--   forecast_at = close_at - horizon: nothing later is used for the forecast
--   weighting time:  forecast = the last trade price of the order book stream (price_ticks, not repeated, more than 0 and less than 1)
--                    that was received at or before forecast_at. observed: the event was observed from that tick to forecast_at,
--                    so it was the price then. missing: it was not, or no price was known. Every market weighs 1.
--   weighting trades: forecast = the average YES price of the trades of all users (activity) from the next longer horizon to forecast_at
--                    (30 d: of all before it), each trade counting once, of whatever size. missing: the activity feed is not complete
--                    up to forecast_at. no trade: there was none. The market weighs as many as it had trades.
CREATE OR REPLACE VIEW {database}.calibration_forecasts
(
    `weighting` String COMMENT 'time: the price at forecast_at, every market alike. trades: the average of trades, markets by number of trades',
    `horizon` String COMMENT 'Time before the close: 1 h, 6 h, 1 d, 3 d, 7 d or 30 d',
    `horizon_seconds` UInt32 COMMENT 'The same, seconds',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID',
    `category` Nullable(String) COMMENT 'Category of the event; NULL when absent',
    `close_at` DateTime64(6, 'UTC') COMMENT 'Planned end of trading, or the resolution if that was earlier',
    `close_basis` String COMMENT 'planned: the planned end. resolution: the resolution came first, or no end was planned',
    `forecast_at` DateTime64(6, 'UTC') COMMENT 'close_at - horizon',
    `state` String COMMENT 'observed, missing or no trade',
    `forecast` Nullable(Float64) COMMENT 'Probability of YES by the price, 0 to 1, exclusive; NULL unless observed',
    `price_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'time: when the price was received, by our clock. trades: the last trade of the average, by the exchange. NULL unless observed',
    `age_seconds` Nullable(Float64) COMMENT 'forecast_at - price_at, seconds; NULL unless observed',
    `weight` UInt64 COMMENT 'time: 1. trades: number of trades of the average. 0 unless observed',
    `result` UInt16 COMMENT '1 if the market was resolved YES, 0 if NO',
    `basis` String COMMENT 'How the resolution is known: payout or final chance (inferred)'
)
AS
-- Ticks of other markets are not read.
WITH may_be_resolved AS
(
    SELECT market FROM {database}.market_chances WHERE decided
    UNION ALL
    SELECT market FROM {database}.assets WHERE asset GLOBAL IN (SELECT asset FROM {database}.payouts)
)
SELECT
    weighting,
    horizon,
    horizon_seconds,
    event,
    market,
    category,
    close_at,
    close_basis,
    forecast_at,
    state,
    if(state = 'observed', if(weighting = 'time', tick.2, toFloat64(traded.2) / traded.3), NULL) AS forecast,
    if(state = 'observed', if(weighting = 'time', tick.1.1, traded.4), NULL) AS price_at,
    if(state = 'observed', dateDiff('microsecond', if(weighting = 'time', tick.1.1, traded.4), forecast_at) / 1e6, NULL) AS age_seconds,
    multiIf(state != 'observed', 0, weighting = 'time', 1, traded.3) AS weight,
    result,
    basis
FROM
(
    SELECT
        *,
        multiIf(
            weighting = 'time', if(tick.2 > 0 AND arrayExists(range -> range.1 <= tick.1.1 AND range.2 >= forecast_at, ranges), 'observed', 'missing'),
            forecast_at > (SELECT max(complete_to) FROM {database}.history_completeness WHERE operation = 'activity'), 'missing',
            traded.3 > 0, 'observed',
            'no trade'
        ) AS state
    FROM
    (
        SELECT
            weighting,
            ['1 h', '6 h', '1 d', '3 d', '7 d', '30 d'][step] AS horizon,
            [3600, 21600, 86400, 259200, 604800, 2592000][step] AS horizon_seconds,
            market,
            unit.1 AS event,
            unit.2 AS result,
            unit.3 AS basis,
            unit.4 AS close_at,
            unit.5 AS close_basis,
            unit.6 AS category,
            close_at - toIntervalSecond(horizon_seconds) AS forecast_at,
            -- A price of a bucket was known at the horizons 1 to bucket.
            arraySort(arrayMap(one -> one.2, arrayFilter(one -> one.1 >= step, buckets)))[-1] AS tick,
            arrayFirst(one -> one.1 = step, trade_buckets) AS traded
        FROM
        (
            SELECT
                market,
                any(bucket_unit) AS unit,
                groupArray((bucket, last_tick)) AS buckets,
                groupArray((bucket, trade_price_sum, trade_count, last_trade_at)) AS trade_buckets
            FROM
            (
                SELECT
                    market,
                    arrayCount(seconds -> known_at <= close_at - toIntervalSecond(seconds), [3600, 21600, 86400, 259200, 604800, 2592000]) AS bucket,
                    any((event, result, basis, close_at, close_basis, category, opened_at)) AS bucket_unit,
                    -- The default, a price of 0, is no price.
                    maxIf((position, price), source = 'tick') AS last_tick,
                    sumIf(yes_price, source = 'fill') AS trade_price_sum,
                    countIf(source = 'fill') AS trade_count,
                    maxIf(known_at, source = 'fill') AS last_trade_at
                FROM
                (
                    SELECT
                        CAST(market, 'String') AS priced_market,
                        'tick' AS source,
                        received_at AS known_at,
                        (received_at, `_offset`, `_index`) AS position,
                        toFloat64(last) AS price,
                        toDecimal128(0, 12) AS yes_price
                    FROM {database}.price_ticks
                    WHERE NOT repeated AND NOT is_resolution AND market GLOBAL IN (SELECT market FROM may_be_resolved)
                    UNION ALL
                    SELECT
                        market AS priced_market,
                        'fill' AS source,
                        assumeNotNull(executed_at) AS known_at,
                        (known_at, toUInt64(0), toUInt32(0)) AS position,
                        0. AS price,
                        assumeNotNull(activity.yes_price) AS yes_price
                    FROM {database}.activity
                    WHERE executed_at IS NOT NULL AND activity.yes_price > 0 AND activity.yes_price < 1
                ) AS prices
                RIGHT JOIN
                (
                    SELECT
                        market,
                        event,
                        result,
                        basis,
                        category,
                        arrayMin(arrayFilter(moment -> moment > toDateTime64(0, 6, 'UTC'), [planned_at, stepped_at, known_at, paid_at])) AS close_at,
                        if(close_at = planned_at, 'planned', 'resolution') AS close_basis,
                        if(created_at > toDateTime64(0, 6, 'UTC'), created_at, listed_at) AS opened_at
                    FROM
                    (
                        SELECT
                            market,
                            event,
                            basis,
                            toUInt16(resolution = 'yes') AS result,
                            ifNull(resolutions.known_at, toDateTime64(0, 6, 'UTC')) AS known_at,
                            ifNull(resolutions.paid_at, toDateTime64(0, 6, 'UTC')) AS paid_at
                        FROM {database}.resolutions
                        WHERE resolution IN ('yes', 'no')
                    ) AS resolved
                    LEFT JOIN
                    (
                        SELECT
                            event,
                            category,
                            ifNull(closes_at, toDateTime64(0, 6, 'UTC')) AS planned_at,
                            ifNull(events.created_at, toDateTime64(0, 6, 'UTC')) AS created_at
                        FROM {database}.events
                    ) AS known USING (event)
                    LEFT JOIN (SELECT market, first_seen_at AS listed_at FROM {database}.markets) AS listed USING (market)
                    LEFT JOIN
                    (
                        SELECT
                            CAST(market, 'String') AS market,
                            arrayMin(arrayFilter(moment -> moment > last_price_at, groupUniqArrayIf(received_at, is_resolution))) AS stepped_at,
                            maxIf(received_at, NOT is_resolution) AS last_price_at
                        FROM {database}.price_ticks
                        WHERE market GLOBAL IN (SELECT market FROM may_be_resolved)
                        GROUP BY market
                    ) AS steps USING (market)
                ) AS units ON prices.priced_market = units.market
                GROUP BY market, bucket
            )
            GROUP BY market
        )
        ARRAY JOIN [1, 2, 3, 4, 5, 6] AS step
        ARRAY JOIN ['time', 'trades'] AS weighting
        WHERE unit.7 > toDateTime64(0, 6, 'UTC') AND unit.7 <= unit.4 - toIntervalSecond([3600, 21600, 86400, 259200, 604800, 2592000][step])
    ) AS forecasts
    LEFT JOIN
    (
        SELECT event, groupArray((begins_at, ends_at)) AS ranges
        FROM {database}.observed_ranges
        WHERE stream = 'order-book'
        GROUP BY event
    ) AS observed USING (event)
);
