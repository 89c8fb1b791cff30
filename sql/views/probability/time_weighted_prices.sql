-- What was the average price of every market over time, in each period?
--
--   SELECT * FROM time_weighted_prices(period_seconds = 3600, from_at = '2026-01-05', to_at = '2026-01-06') WHERE market = '...'
--
-- One row per market and period that begins in [from_at, to_at): multiples of period_seconds since the Unix epoch, in receive time,
-- UTC. All periods have one length, so that their averages weigh the same: unlike in candles, 2592000 is 30 days here, not a calendar month.
-- A tick of price_ticks (not repeated) is valid until the next one of its market, until its resolution, or until now. Its weight in
-- a period is the part of that time in which the event was observed on the order book stream: gaps have no weight.
--   last_twap = sum(last × seconds) / sum(seconds)
--   mid_twap  = the same of (bid + ask) / 2, over the ticks that have both sides and are not crossed: one-sided books have no weight
-- Completeness, as fractions of the period (of an unfinished one: of its elapsed part): observed is the time during which the event
-- was observed and a price is known; backfilled is 0, as order book gaps cannot be backfilled; missing is the rest.
-- The tick that was valid at from_at is searched in the 7 days before it.
CREATE OR REPLACE VIEW {database}.time_weighted_prices
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period, by our clock',
    `last_twap` Nullable(Float64) COMMENT 'Time-weighted price of the last trade, in YES terms, 0 to 1; NULL when nothing was observed',
    `mid_twap` Nullable(Float64) COMMENT 'Time-weighted mid of bid and ask, in YES terms, 0 to 1; NULL when there was none',
    `mid_seconds` Float64 COMMENT 'Observed time in which there was a mid, seconds',
    `observed` Float64 COMMENT 'Fraction of the period during which the event was observed and a price is known, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the period that was fetched from history, 0 to 1: always 0',
    `missing` Float64 COMMENT 'Fraction of the period that was not observed, 0 to 1'
)
AS
SELECT
    event,
    market,
    toDateTime64(second, 6, 'UTC') AS begins_at,
    if(micros > 0, last_sum / micros, NULL) AS last_twap,
    if(mid_micros > 0, mid_sum / mid_micros, NULL) AS mid_twap,
    mid_micros / 1e6 AS mid_seconds,
    least(1, micros / elapsed) AS observed,
    0. AS backfilled,
    1 - least(1, micros / elapsed) AS missing
FROM
(
    SELECT
        event,
        market,
        second,
        sum(weight) AS micros,
        -- In order of time: the sum of doubles depends on the order.
        arraySum(piece -> piece.2 * piece.4, arraySort(groupArray((from_micros, last, mid, weight))) AS pieces) AS last_sum,
        sumIf(weight, mid IS NOT NULL) AS mid_micros,
        arraySum(piece -> ifNull(piece.3, 0) * piece.4, pieces) AS mid_sum,
        greatest(1, least(1000000 * toInt64({period_seconds:UInt32}), toUnixTimestamp64Micro(now64(6, 'UTC')) - 1000000 * toInt64(second))) AS elapsed
    FROM
    (
        SELECT
            event,
            market,
            second,
            from_micros,
            last,
            mid,
            toInt64(arraySum(range -> greatest(0, least(toUnixTimestamp64Micro(range.2), to_micros) - greatest(toUnixTimestamp64Micro(range.1), from_micros)), ranges)) AS weight
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
                last,
                mid,
                second,
                greatest(from_micros, 1000000 * toInt64(second)) AS from_micros,
                least(to_micros, 1000000 * toInt64(second + {period_seconds:UInt32})) AS to_micros
            FROM
            (
                SELECT
                    event,
                    market,
                    last,
                    mid,
                    from_micros,
                    to_micros,
                    arrayJoin(range(
                        -- A period that began before from_at is not whole. Not a WHERE, which would keep ClickHouse from reading one market only.
                        greatest(
                            intDiv(toUInt64(from_micros), 1000000 * toUInt64({period_seconds:UInt32})) * {period_seconds:UInt32},
                            intDiv(toUInt64(ceil(toUnixTimestamp64Micro(parseDateTime64BestEffort({from_at:String}, 6, 'UTC')) / 1e6)) + {period_seconds:UInt32} - 1, {period_seconds:UInt32}) * {period_seconds:UInt32}
                        ),
                        toUInt64(least(intDiv(to_micros + 999999, 1000000), toInt64(ceil(toUnixTimestamp64Micro(parseDateTime64BestEffort({to_at:String}, 6, 'UTC')) / 1e6)))),
                        {period_seconds:UInt32}
                    )) AS second
                FROM
                (
                    SELECT
                        event,
                        market,
                        tick.2 AS last,
                        tick.3 AS mid,
                        tick.4 AS is_resolution,
                        toUnixTimestamp64Micro(tick.1.1) AS from_micros,
                        toUnixTimestamp64Micro(next_at) AS to_micros
                    FROM
                    (
                        SELECT
                            CAST(event, 'String') AS event,
                            CAST(market, 'String') AS market,
                            arraySort(one -> one.1, groupArray((
                                (received_at, `_offset`, `_index`),
                                toFloat64(last),
                                if(bid <= ask, (CAST(bid, 'Nullable(Float64)') + CAST(ask, 'Nullable(Float64)')) / 2, NULL),
                                is_resolution
                            ))) AS ticks
                        FROM {database}.price_ticks
                        WHERE received_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC') - toIntervalDay(7) AND received_at < parseDateTime64BestEffort({to_at:String}, 6, 'UTC') + toIntervalSecond({period_seconds:UInt32})
                            AND NOT repeated
                        GROUP BY event, market
                    )
                    ARRAY JOIN ticks AS tick, arrayPushBack(arrayMap(one -> one.1.1, arrayPopFront(ticks)), now64(6, 'UTC')) AS next_at
                )
                WHERE NOT is_resolution
            )
        ) AS pieces USING (event)
    )
    GROUP BY event, market, second
);
