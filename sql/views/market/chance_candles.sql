-- How did the chance of a market move, and how much of each period was observed?
--
--   SELECT * FROM chance_candles(period_seconds = 3600)
--   WHERE market = '...' AND begins_at >= now() - INTERVAL 7 DAY ORDER BY begins_at
--
-- Periods are aligned to the Unix epoch, in exchange time. Of the points of chance_series of one market and period, in
-- their order:
--   open, close = first and last chance
--   high, low   = highest and lowest chance
-- Completeness, as fractions of the part of the period in which the event was open (of an unfinished period: of its elapsed
-- part; of a period in which the event was not open at all: of the whole period):
--   observed    = the event was observed on the chance stream
--   backfilled  = it was not, but chance history of the market was fetched
--   missing     = 1 - observed - backfilled
-- A period without a point has no row; coverage tells whether it was observed.
CREATE OR REPLACE VIEW {database}.chance_candles
(
    `event` LowCardinality(String) COMMENT 'Event ID',
    `market` LowCardinality(String) COMMENT 'Market ID',
    `begins_at` DateTime('UTC') COMMENT 'Start of the period',
    `open` Float64 COMMENT 'First chance in the period',
    `high` Float64 COMMENT 'Greatest chance in the period',
    `low` Float64 COMMENT 'Least chance in the period',
    `close` Float64 COMMENT 'Last chance in the period',
    `points` UInt64 COMMENT 'Changes in the period: live ones, and points of history',
    `observed` Float64 COMMENT 'Fraction of the open part of the period in which the event was observed, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the open part of the period that was fetched from history, 0 to 1',
    `missing` Float64 COMMENT 'Fraction of the open part of the period of which nothing is known, 0 to 1'
)
AS
SELECT
    event,
    market,
    begins_at,
    open,
    high,
    low,
    close,
    points,
    least(1, covered_micros / micros) AS observed,
    least(1 - observed, greatest(0, fetched_micros - both_micros) / micros) AS backfilled,
    1 - observed - backfilled AS missing
FROM
(
    WITH
        open_from < ends AND open_until > begins AS was_open,
        if(was_open, greatest(begins, open_from), begins) AS from_at,
        if(was_open, least(ends, open_until), ends) AS to_at
    SELECT
        *,
        dateDiff('microsecond', from_at, to_at) AS micros,
        arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), ranges) AS covered_micros,
        arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), fetched) AS fetched_micros,
        arraySum(
            other -> arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, other.1, from_at), least(range.2, other.2, to_at))), ranges),
            fetched
        ) AS both_micros
    FROM
    (
        SELECT
            max(event) AS event,
            market,
            toStartOfInterval(occurred_at, toIntervalSecond({period_seconds:UInt32})) AS begins_at,
            toDateTime64(begins_at, 6, 'UTC') AS begins,
            greatest(begins + toIntervalMicrosecond(1), least(begins + toIntervalSecond({period_seconds:UInt32}), now64(6, 'UTC'))) AS ends,
            argMin(chance, (occurred_at, received_at, log_position)) AS open,
            max(chance) AS high,
            min(chance) AS low,
            argMax(chance, (occurred_at, received_at, log_position)) AS close,
            countIf(source != 'last-known') AS points
        FROM {database}.chance_series
        GROUP BY market, begins_at
    ) AS periods
    LEFT JOIN (SELECT event, open_from, open_until, ranges FROM {database}.completeness_ranges WHERE stream = 'chance') AS observed USING (event)
    LEFT JOIN
    (
        SELECT market, groupArray((backfilled_ranges.begins_at, backfilled_ranges.ends_at)) AS fetched
        FROM {database}.backfilled_ranges
        GROUP BY market
    ) AS repairs USING (market)
);
