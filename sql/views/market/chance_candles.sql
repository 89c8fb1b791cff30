-- How did the chance of a market move, and how much of each period was observed?
--
--   SELECT * FROM chance_candles(period_seconds = 3600)
--   WHERE market = '...' AND begins_at >= now() - INTERVAL 7 DAY ORDER BY begins_at
--
-- Periods are aligned to the Unix epoch, in exchange time; 2592000 is a calendar month in UTC. Of the points of chance_series of one market and period, in
-- their order:
--   open, close = first and last chance
--   high, low   = highest and lowest chance
-- Completeness, as fractions of the part of the period in which the event was open (of an unfinished period: of its elapsed
-- part; of a period in which the event was not open at all: of the whole period):
--   observed    = the event was observed on the chance stream
--   backfilled  = it was not, but chance history of the market was fetched
--   missing     = 1 - observed - backfilled
-- A final chance of 0 or 1 is a point like any other here: it is a probability, not a trade.
-- A period without a point has no row; coverage shows whether it was observed.
CREATE OR REPLACE VIEW {database}.chance_candles
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period',
    `open` Float64 COMMENT 'First chance in the period, 0 to 1',
    `high` Float64 COMMENT 'Highest chance in the period, 0 to 1',
    `low` Float64 COMMENT 'Lowest chance in the period, 0 to 1',
    `close` Float64 COMMENT 'Last chance in the period, 0 to 1',
    `points` UInt64 COMMENT 'Changes in the period: live ones, and points of history',
    `observed` Float64 COMMENT 'Fraction of the open part of the period in which the event was observed, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the open part of the period that was fetched from history, 0 to 1',
    `missing` Float64 COMMENT 'Fraction of the open part of the period that was neither observed nor backfilled, 0 to 1'
)
AS
-- Each step is a subquery of its own: ClickHouse plans nested aliases of one SELECT many times slower.
WITH
{period_functions},
{completeness_bucket}
SELECT
    *,
    1 - observed - backfilled AS missing
FROM
(
    SELECT
        event,
        market,
        begins_at,
        open,
        high,
        low,
        close,
        points,
        observed,
        least(1 - observed, greatest(0, fetched_micros - both_micros) / micros) AS backfilled
    FROM
    (
        SELECT *, least(1, observed_micros / micros) AS observed
        FROM
        (
            SELECT
                event,
                market,
                begins_at,
                open,
                high,
                low,
                close,
                points,
                greatest(1, dateDiff('microsecond', from_at, to_at)) AS micros,
                arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), ranges) AS observed_micros,
                arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), fetched) AS fetched_micros,
                arraySum(
                    other -> arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, other.1, from_at), least(range.2, other.2, to_at))), ranges),
                    fetched
                ) AS both_micros
            FROM
            (
                SELECT
                    *,
                    if(open_from < ends AND open_to > begins_at, greatest(begins_at, open_from), begins_at) AS from_at,
                    if(open_from < ends AND open_to > begins_at, least(ends, open_to), ends) AS to_at
                FROM
                (
                    -- On the left of the join, so that ClickHouse computes it only for the events of the periods.
                    SELECT event, bucket, open_from, open_to, ranges
                    FROM {database}.completeness_buckets(period_seconds = {period_seconds:UInt32})
                    WHERE stream = 'chance'
                ) AS observed
                RIGHT JOIN
                (
                    SELECT
                        *,
                        completeness_bucket(begins_at) AS bucket,
                        greatest(begins_at + toIntervalMicrosecond(1), least(period_end(begins_at), now64(6, 'UTC'))) AS ends
                    FROM
                    (
                        SELECT
                            max(event) AS event,
                            market,
                            period_start(occurred_at) AS begins_at,
                            argMin(chance, (occurred_at, received_at, log_position)) AS open,
                            max(chance) AS high,
                            min(chance) AS low,
                            argMax(chance, (occurred_at, received_at, log_position)) AS close,
                            countIf(source != 'last-known') AS points
                        FROM {database}.chance_series
                        GROUP BY market, begins_at
                    )
                ) AS periods USING (event, bucket)
                LEFT JOIN
                (
                    SELECT market, groupArray((backfilled_ranges.begins_at, backfilled_ranges.ends_at)) AS fetched
                    FROM {database}.backfilled_ranges
                    GROUP BY market
                ) AS backfills USING (market)
            )
        )
    )
);
