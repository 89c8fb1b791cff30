-- How did the price of a market move, and how much of each period was observed?
--
--   SELECT * FROM candles(period_seconds = 60)
--   WHERE market = '...' AND begins_at >= now() - INTERVAL 6 HOUR ORDER BY begins_at
--
-- Periods are aligned to the Unix epoch, in receive time, because the stream carries no exchange time; 2592000 is a calendar month in
-- UTC. Filters on market, event and begins_at are pushed down to the table. Of the ticks of one market and period that are not
-- repeated, in order of received_at, _offset and _index (without resolutions: is_resolution of price_ticks):
--   open, close = price of the last trade in the first and in the last tick
--   high, low   = highest and lowest price of the last trade
--   bid, ask    = best bid and best ask in the last tick, NULL when that side was empty
--   mid_…       = the same four of (bid + ask) / 2, over the ticks that have both sides and are not crossed: a one-sided book has no
--                 mid. The candles of the chance are in chance_candles: they have the exchange's time, these have ours.
-- Completeness, as fractions of the part of the period in which the event was open (of an unfinished period: of its elapsed
-- part; of a period in which the event was not open at all: of the whole period):
--   observed    = the event was observed on the order book stream
--   backfilled  = 0, because order book gaps cannot be backfilled
--   missing     = 1 - observed - backfilled
-- A period without a tick has no row; coverage shows whether it was observed.
CREATE OR REPLACE VIEW {database}.candles
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period',
    `open` Float64 COMMENT 'First price of the last trade in the period, in YES terms',
    `high` Float64 COMMENT 'Highest price of the last trade in the period, in YES terms',
    `low` Float64 COMMENT 'Lowest price of the last trade in the period, in YES terms',
    `close` Float64 COMMENT 'Last price of the last trade in the period, in YES terms',
    `bid` Nullable(Float64) COMMENT 'Best bid at the end, in YES terms; NULL when there is no bid',
    `ask` Nullable(Float64) COMMENT 'Best ask at the end, in YES terms; NULL when there is no ask',
    `mid_open` Nullable(Float64) COMMENT 'First mid of bid and ask in the period, in YES terms; NULL when no tick has both sides',
    `mid_high` Nullable(Float64) COMMENT 'Highest mid in the period, in YES terms',
    `mid_low` Nullable(Float64) COMMENT 'Lowest mid in the period, in YES terms',
    `mid_close` Nullable(Float64) COMMENT 'Last mid in the period, in YES terms',
    `ticks` UInt64 COMMENT 'Rows of price_ticks in the period that are neither repeated nor a resolution',
    `observed` Float64 COMMENT 'Fraction of the open part of the period in which the event was observed, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the open part of the period that was fetched from history, 0 to 1: always 0',
    `missing` Float64 COMMENT 'Fraction of the open part of the period that was neither observed nor backfilled, 0 to 1'
)
AS
-- Each step is a subquery of its own: ClickHouse plans nested aliases of one SELECT many times slower.
WITH
{period_functions},
{completeness_bucket}
SELECT
    event,
    market,
    begins_at,
    open,
    high,
    low,
    close,
    bid,
    ask,
    mid_open,
    mid_high,
    mid_low,
    mid_close,
    ticks,
    observed,
    0. AS backfilled,
    1 - observed AS missing
FROM
(
    SELECT
        *,
        least(1, arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), ranges) / greatest(1, dateDiff('microsecond', from_at, to_at))) AS observed
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
            WHERE stream = 'order-book'
        ) AS observed
        RIGHT JOIN
        (
            SELECT
                event,
                market,
                begins_at,
                completeness_bucket(begins_at) AS bucket,
                open,
                high,
                low,
                close,
                bid,
                ask,
                mid_open,
                mid_high,
                mid_low,
                mid_close,
                ticks,
                greatest(begins_at + toIntervalMicrosecond(1), least(period_end(begins_at), now64(6, 'UTC'))) AS ends
            FROM {database}.candle_prices(period_seconds = {period_seconds:UInt32})
        ) AS periods USING (event, bucket)
    )
);
