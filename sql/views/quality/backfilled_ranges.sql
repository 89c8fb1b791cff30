-- For which times was the chance of a market fetched from history?
--
-- The ranges of the collector events `backfilled`, merged where they overlap or touch.
CREATE OR REPLACE VIEW {database}.backfilled_ranges
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the range',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'End of the range'
)
AS
SELECT
    event,
    market,
    min(begins) AS begins_at,
    max(ends) AS ends_at
FROM
(
    SELECT
        *,
        sum(begins > reached) OVER (PARTITION BY event, market ORDER BY begins, ends ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
    FROM
    (
        SELECT
            event,
            market,
            assumeNotNull(range_from) AS begins,
            assumeNotNull(range_to) AS ends,
            max(ends) OVER (PARTITION BY event, market ORDER BY begins, ends ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
        FROM {database}.collector_events
        WHERE type = 'backfilled'
    )
)
GROUP BY event, market, island;
