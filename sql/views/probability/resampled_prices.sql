-- What did every market cost at fixed times?
--
--   SELECT * FROM resampled_prices(period_seconds = 60, from_at = '2026-01-05 12:00', to_at = '2026-01-05 13:00') WHERE market = '...'
--
-- One row per market and time: the multiples of period_seconds since the Unix epoch in [from_at, to_at), in receive time, UTC. All steps
-- have one length, so that changes between them can be compared: unlike in candles, 2592000 is 30 days here, not a calendar month. The
-- price is the last known one: that of the last tick of price_ticks (not repeated) at or before the time, searched in the 7 days
-- before from_at and since. A market has no rows before its first tick there, and none from its resolution on.
--   mid   = (bid + ask) / 2; NULL where a side of the book is empty, or the bid is above the ask: a one-sided book has no mid
--   state = observed: the event was observed on the order book stream from that tick to the time, so the price is the price then;
--           missing: not all of that time was observed, so the price may have changed. Nothing of the order book can be backfilled.
CREATE OR REPLACE VIEW {database}.resampled_prices
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `sampled_at` DateTime64(6, 'UTC') COMMENT 'The time, by our clock',
    `last` Float64 COMMENT 'Price of the last trade, in YES terms, 0 to 1',
    `bid` Nullable(Float64) COMMENT 'Best bid, in YES terms; NULL when there is no bid',
    `ask` Nullable(Float64) COMMENT 'Best ask, in YES terms; NULL when there is no ask',
    `mid` Nullable(Float64) COMMENT '(bid + ask) / 2, in YES terms; NULL when a side is empty or the book is crossed',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the price was received',
    `age_seconds` Float64 COMMENT 'sampled_at - received_at, seconds',
    `state` String COMMENT 'observed or missing'
)
AS
SELECT
    event,
    market,
    sampled_at,
    last,
    bid,
    ask,
    if(bid <= ask, (bid + ask) / 2, NULL) AS mid,
    received_at,
    dateDiff('microsecond', received_at, sampled_at) / 1e6 AS age_seconds,
    if(arrayExists(range -> range.1 <= received_at AND range.2 >= sampled_at, ranges), 'observed', 'missing') AS state
FROM
-- On the left of the join, so that ClickHouse computes it only for the events that are needed.
(
    SELECT event, groupArray((begins_at, ends_at)) AS ranges
    FROM {database}.observed_ranges
    WHERE stream = 'order-book' AND ends_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC')
        AND begins_at <= parseDateTime64BestEffort({to_at:String}, 6, 'UTC') + toIntervalSecond({period_seconds:UInt32})
    GROUP BY event
) AS observed
RIGHT JOIN
(
    SELECT
        event,
        market,
        toDateTime64(second, 6, 'UTC') AS sampled_at,
        toFloat64(tick.1) AS last,
        CAST(tick.2, 'Nullable(Float64)') AS bid,
        CAST(tick.3, 'Nullable(Float64)') AS ask,
        tick.4 AS received_at
    FROM
    (
        -- Not a join of times and ticks, through which ClickHouse does not push a filter by market.
        SELECT
            event,
            market,
            sample.2 AS tick,
            arrayJoin(range(
                sample.1,
                toUInt32(least(next_second, toInt64(ceil(toUnixTimestamp64Micro(parseDateTime64BestEffort({to_at:String}, 6, 'UTC')) / 1e6)), toInt64(toUnixTimestamp(now())) + 1, resolved_second)),
                {period_seconds:UInt32}
            )) AS second
        FROM
        (
            SELECT
                event,
                market,
                min(times.resolved_second) AS resolved_second,
                arraySort(one -> one.1, groupArrayIf((times.second, times.tick), times.has_tick)) AS samples
            FROM
            (
                -- The last tick up to each of the times; also of ticks that were received at the same moment.
                SELECT
                    CAST(event, 'String') AS event,
                    CAST(market, 'String') AS market,
                    toUInt32(greatest(
                        intDiv(toUnixTimestamp64Micro(price_ticks.received_at) + 1000000 * toInt64({period_seconds:UInt32}) - 1, 1000000 * toInt64({period_seconds:UInt32})),
                        intDiv(toInt64(ceil(toUnixTimestamp64Micro(parseDateTime64BestEffort({from_at:String}, 6, 'UTC')) / 1e6)) + {period_seconds:UInt32} - 1, {period_seconds:UInt32})
                    ) * {period_seconds:UInt32}) AS second,
                    argMaxIf((last, bid, ask, received_at), (received_at, `_offset`, `_index`), NOT repeated AND NOT is_resolution) AS tick,
                    countIf(NOT repeated AND NOT is_resolution) > 0 AS has_tick,
                    if(countIf(is_resolution) = 0, 4294967295, toInt64(ceil(toUnixTimestamp64Micro(minIf(price_ticks.received_at, is_resolution)) / 1e6))) AS resolved_second
                FROM {database}.price_ticks
                WHERE price_ticks.received_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC') - toIntervalDay(7) AND price_ticks.received_at < parseDateTime64BestEffort({to_at:String}, 6, 'UTC')
                GROUP BY event, market, second
            ) AS times
            GROUP BY event, market
        )
        ARRAY JOIN samples AS sample, arrayPopFront(arrayPushBack(arrayMap(one -> toInt64(one.1), samples), toInt64(4294967295))) AS next_second
    )
) AS prices USING (event);
