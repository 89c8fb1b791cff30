-- What fraction of each period was every market observed, including periods without a change?
--
--   SELECT * FROM market_periods(period_seconds = 60, from_at = '2026-01-05 12:00', to_at = '2026-01-05 13:00')
--   WHERE market = '...' AND stream = 'order-book' ORDER BY begins_at
--
-- One row per stream (order-book and chance), market, and period that overlaps [from_at, to_at), UTC, in which the market's event
-- was open. Periods are those of candles and chance_candles with the same period_seconds, whose rows can be joined; a
-- period without such a row and with missing = 0 was observed, and nothing changed. Fractions of the part of the period in which
-- the event was open (of an unfinished period: of its elapsed part):
--   observed    = the event was observed on the stream
--   backfilled  = not observed, but fetched from chance history; 0 for the order book
--   missing     = 1 - observed - backfilled
CREATE OR REPLACE VIEW {database}.market_periods
(
    `stream` String COMMENT 'order-book or chance',
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period',
    `observed` Float64 COMMENT 'Fraction of the open part of the period in which the event was observed, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the open part of the period that was fetched from history, 0 to 1',
    `missing` Float64 COMMENT 'Fraction of the open part of the period that was neither observed nor backfilled, 0 to 1'
)
AS
WITH
{period_functions},
{period_starts}
SELECT
    stream,
    event,
    market,
    begins_at,
    observed,
    least(1 - observed, greatest(0, fetched_micros - both_micros) / micros) AS backfilled,
    greatest(0., 1 - observed - backfilled) AS missing
FROM
(
    SELECT
        stream,
        event,
        market,
        begins_at,
        micros,
        least(1, arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), ranges) / micros) AS observed,
        arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), fetched) AS fetched_micros,
        arraySum(
            other -> arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, other.1, from_at), least(range.2, other.2, to_at))), ranges),
            fetched
        ) AS both_micros
    FROM
    (
        SELECT
            stream,
            event,
            market,
            ranges,
            fetched,
            begins_at,
            greatest(begins_at, open_from) AS from_at,
            least(period_end(begins_at), open_to, now64(6, 'UTC')) AS to_at,
            greatest(1, dateDiff('microsecond', from_at, to_at)) AS micros
        FROM
        (
            SELECT CAST(market, 'String') AS market, CAST(event, 'String') AS event
            FROM {database}.markets
        ) AS known
        INNER JOIN
        (
            SELECT stream, event, open_from, open_to, ranges
            FROM {database}.completeness_ranges
            WHERE stream IN ('order-book', 'chance') AND open_to > open_from
        ) AS lifetimes USING (event)
        LEFT JOIN
        (
            SELECT 'chance' AS stream, market, groupArray((backfilled_ranges.begins_at, backfilled_ranges.ends_at)) AS fetched
            FROM {database}.backfilled_ranges
            GROUP BY market
        ) AS backfills USING (stream, market)
        ARRAY JOIN period_starts(
            greatest(parseDateTime64BestEffort({from_at:String}, 6, 'UTC'), open_from),
            least(parseDateTime64BestEffort({to_at:String}, 6, 'UTC'), open_to)
        ) AS begins_at
    )
);
