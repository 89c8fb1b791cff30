-- How did the price of a market move, and how much of each period was observed?
--
--   SELECT * FROM candles(period_seconds = 60)
--   WHERE market = '...' AND begins_at >= now() - INTERVAL 6 HOUR ORDER BY begins_at
--
-- Periods are aligned to the Unix epoch, in receive time, because the stream carries no exchange time. Filters on market,
-- event and begins_at are pushed down to the table. Of the ticks of one market and period, in order of received_at, _offset
-- and _index:
--   open, close = price of the last trade in the first and in the last tick
--   high, low   = highest and lowest price of the last trade
--   bid, ask    = best bid and best ask in the last tick, NULL when that side was empty
-- Completeness, as fractions of the part of the period in which the event was open (of an unfinished period: of its elapsed
-- part; of a period in which the event was not open at all: of the whole period):
--   observed    = the event was observed on the order book stream
--   backfilled  = 0, because order book gaps cannot be backfilled
--   missing     = 1 - observed - backfilled
-- A period without a tick has no row; coverage tells whether it was observed.
CREATE OR REPLACE VIEW {database}.candles
(
    `event` LowCardinality(String) COMMENT 'Event ID',
    `market` LowCardinality(String) COMMENT 'Market ID',
    `begins_at` DateTime('UTC') COMMENT 'Start of the period',
    `open` Float64 COMMENT 'First price of the last trade in the period',
    `high` Float64 COMMENT 'Greatest price of the last trade in the period',
    `low` Float64 COMMENT 'Least price of the last trade in the period',
    `close` Float64 COMMENT 'Last price of the last trade in the period',
    `bid` Nullable(Float64) COMMENT 'Best bid at the end; NULL when there is no bid',
    `ask` Nullable(Float64) COMMENT 'Best ask at the end; NULL when there is no ask',
    `ticks` UInt64 COMMENT 'Rows of price_ticks in the period',
    `observed` Float64 COMMENT 'Fraction of the open part of the period in which the event was observed, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the open part of the period that was fetched from history: always 0',
    `missing` Float64 COMMENT 'Fraction of the open part of the period of which nothing is known, 0 to 1'
)
AS
WITH
    open_from < ends AND open_until > begins AS was_open,
    if(was_open, greatest(begins, open_from), begins) AS from_at,
    if(was_open, least(ends, open_until), ends) AS to_at
SELECT
    event,
    market,
    begins_at,
    open,
    high,
    low,
    close,
    last_tick.2 AS bid,
    last_tick.3 AS ask,
    ticks,
    least(1, arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), ranges) / dateDiff('microsecond', from_at, to_at)) AS observed,
    0 AS backfilled,
    1 - observed AS missing
FROM
(
    SELECT
        event,
        market,
        toStartOfInterval(received_at, toIntervalSecond({period_seconds:UInt32})) AS begins_at,
        toDateTime64(begins_at, 6, 'UTC') AS begins,
        greatest(begins + toIntervalMicrosecond(1), least(begins + toIntervalSecond({period_seconds:UInt32}), now64(6, 'UTC'))) AS ends,
        argMin(last, (received_at, `_offset`, `_index`)) AS open,
        max(last) AS high,
        min(last) AS low,
        argMax((last, bid, ask), (received_at, `_offset`, `_index`)) AS last_tick,
        last_tick.1 AS close,
        count() AS ticks
    FROM {database}.price_ticks
    GROUP BY event, market, begins_at
) AS periods
LEFT JOIN (SELECT event, open_from, open_until, ranges FROM {database}.completeness_ranges WHERE stream = 'order-book') AS observed USING (event);
