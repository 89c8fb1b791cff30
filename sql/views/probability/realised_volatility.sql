-- How much did the price of every market vary?
--
--   SELECT * FROM realised_volatility(period_seconds = 300, from_at = '2026-01-05', to_at = '2026-01-06') ORDER BY mid_volatility DESC
--
-- From the prices at fixed times (resampled_prices). A change is the difference of the prices at two successive times that are both
-- observed; the step to a resolution does not count. All steps have one length, because changes grow with it: unlike in candles, 2592000
-- is 30 days here, not a calendar month.
--   last_volatility = sqrt(sum of the squared changes of the last price), in points of probability; mid_volatility the same of mid
--   …_per_day       = sqrt(sum of squares / (number of changes × period_seconds) × 86400)
-- Times that are not observed have no change; missing is their fraction, so compare markets only where it is small.
CREATE OR REPLACE VIEW {database}.realised_volatility
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `changes` UInt64 COMMENT 'Number of changes of the last price, those of 0 included',
    `last_volatility` Nullable(Float64) COMMENT 'Of the price of the last trade over all changes, in points of probability, 0 to 1; NULL without a change',
    `last_volatility_per_day` Nullable(Float64) COMMENT 'The same scaled to a day, in points of probability, where 0 to 1 is the whole range; NULL without a change',
    `mid_changes` UInt64 COMMENT 'Number of changes of mid, those of 0 included',
    `mid_volatility` Nullable(Float64) COMMENT 'Of mid over all changes, in points of probability, 0 to 1; NULL without a change',
    `mid_volatility_per_day` Nullable(Float64) COMMENT 'The same scaled to a day, in points of probability, where 0 to 1 is the whole range; NULL without a change',
    `observed` Float64 COMMENT 'Fraction of the times that are observed, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the times that were fetched from history, 0 to 1: always 0',
    `missing` Float64 COMMENT 'Fraction of the times that are missing, 0 to 1'
)
AS
SELECT
    event,
    market,
    changes,
    if(changes > 0, sqrt(last_squares), NULL) AS last_volatility,
    if(changes > 0, sqrt(last_squares / (changes * {period_seconds:UInt32}) * 86400), NULL) AS last_volatility_per_day,
    mid_changes,
    if(mid_changes > 0, sqrt(mid_squares), NULL) AS mid_volatility,
    if(mid_changes > 0, sqrt(mid_squares / (mid_changes * {period_seconds:UInt32}) * 86400), NULL) AS mid_volatility_per_day,
    observed_times / times AS observed,
    0. AS backfilled,
    (times - observed_times) / times AS missing
FROM
(
    SELECT
        event,
        market,
        length(points) AS times,
        arrayCount(point -> point.4, points) AS observed_times,
        toUInt64(arraySum((point, before) -> point.4 AND before.4, arrayPopFront(points), arrayPopFront(befores))) AS changes,
        arraySum((point, before) -> if(point.4 AND before.4, pow(point.2 - before.2, 2), 0), arrayPopFront(points), arrayPopFront(befores)) AS last_squares,
        toUInt64(arraySum((point, before) -> point.4 AND before.4 AND point.3 IS NOT NULL AND before.3 IS NOT NULL, arrayPopFront(points), arrayPopFront(befores))) AS mid_changes,
        arraySum((point, before) -> if(point.4 AND before.4, ifNull(pow(point.3 - before.3, 2), 0), 0), arrayPopFront(points), arrayPopFront(befores)) AS mid_squares
    FROM
    (
        SELECT event, market, points, arrayPushFront(arrayPopBack(points), points[1]) AS befores
        FROM
        (
            SELECT event, market, arraySort(groupArray((sampled_at, last, mid, state = 'observed'))) AS points
            FROM {database}.resampled_prices(period_seconds = {period_seconds:UInt32}, from_at = {from_at:String}, to_at = {to_at:String})
            GROUP BY event, market
        )
    )
);
