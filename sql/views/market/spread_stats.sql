-- How tight were the books of the last 24 hours?
--
-- Per market, over the ticks of the last 24 hours. A tick stands until the next one of its market, the last one until
-- now, but only while the event was watched on the order book stream: what a gap hid counts for nothing. Averages and
-- quantiles are weighted by that time.
--   spread         = ask - bid, where neither side is empty and the book is not crossed (bid above ask)
--   average_spread = sum(spread x seconds) / sum(seconds), over the ticks that have a spread
--   two_sided      = seconds with both sides / all seconds, crossed books among them
-- How long a tick was watched is the difference of two sums: of all watched time of the event up to the next tick, and of
-- that up to the tick itself (seen, microseconds).
-- Crossed books are kept in price_ticks, for they are what the exchange said, but have no spread: they are counted.
CREATE OR REPLACE VIEW {database}.spread_stats
(
    `event` LowCardinality(String) COMMENT 'Event ID',
    `market` LowCardinality(String) COMMENT 'Market ID',
    `ticks` UInt64 COMMENT 'Rows of price_ticks in the last 24 hours',
    `crossed_ticks` UInt64 COMMENT 'Those of them whose bid was above the ask: left out of every spread',
    `average_spread` Nullable(Float64) COMMENT 'Average over time; NULL when there never was a spread',
    `median_spread` Nullable(Float64) COMMENT 'Median over time',
    `p90_spread` Nullable(Float64) COMMENT '90th percentile over time',
    `least_spread` Nullable(Float64) COMMENT 'Least spread',
    `greatest_spread` Nullable(Float64) COMMENT 'Greatest spread',
    `two_sided` Float64 COMMENT 'Fraction of the time in which there were both a bid and an ask, 0 to 1',
    `seconds` Float64 COMMENT 'Watched time from the first tick to now'
)
AS
SELECT
    event,
    market,
    ticks,
    crossed_ticks,
    if(spread_micros > 0, weighted_spread / spread_micros, NULL) AS average_spread,
    if(spread_micros > 0, quantiles[1], NULL) AS median_spread,
    if(spread_micros > 0, quantiles[2], NULL) AS p90_spread,
    least_spread,
    greatest_spread,
    if(micros > 0, both_micros / micros, 0) AS two_sided,
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
        min(spread) AS least_spread,
        max(spread) AS greatest_spread
    FROM
    (
        SELECT
            event,
            market,
            bid,
            ask,
            if(bid <= ask, ask - bid, NULL) AS spread,
            toUInt64(greatest(0, leadInFrame(seen, 1, watched_ever) OVER later - seen)) AS lasted
        FROM
        (
            SELECT
                ticks.event AS event,
                market,
                bid,
                ask,
                received_at,
                `_offset`,
                `_index`,
                watched_before + greatest(0, least(dateDiff('microsecond', begins, received_at), dateDiff('microsecond', begins, ends))) AS seen,
                watched_ever
            FROM
            (
                SELECT event, market, bid, ask, received_at, `_offset`, `_index`
                FROM {database}.price_ticks
                WHERE received_at >= now64(6, 'UTC') - toIntervalHour(24)
            ) AS ticks
            -- The last range that had begun by then; each has the sum of those before it and of all, and the first one is empty.
            ASOF LEFT JOIN
            (
                SELECT
                    event,
                    range.1 AS begins,
                    range.2 AS ends,
                    watched_before,
                    arraySum(lengths) AS watched_ever
                FROM
                (
                    SELECT
                        event,
                        arrayPushFront(ranges, (toDateTime64(0, 6, 'UTC'), toDateTime64(0, 6, 'UTC'))) AS all_ranges,
                        arrayMap(range -> dateDiff('microsecond', range.1, range.2), all_ranges) AS lengths
                    FROM {database}.watched_ranges
                    WHERE stream = 'order-book'
                )
                ARRAY JOIN all_ranges AS range, arrayMap((sum, own) -> sum - own, arrayCumSum(lengths), lengths) AS watched_before
            ) AS watched ON ticks.event = watched.event AND ticks.received_at >= watched.begins
        )
        WINDOW later AS (PARTITION BY event, market ORDER BY received_at, `_offset`, `_index` ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
    )
    GROUP BY event, market
);
