-- Which fraction of each period are the fills complete for, including periods without a fill?
--
--   SELECT * FROM volume_periods(period_seconds = 3600, from_at = '2026-01-05 12:00', to_at = '2026-01-06 12:00') WHERE scope = 'all'
--
-- One row per scope whose complete_to is known, and period that overlaps [from_at, to_at), UTC, and has begun. Periods are those of
-- volume_by_period with the same period_seconds, whose rows can be joined; a period without such a row and with
-- missing = 0 had no fill.
-- Completeness, as fractions of the elapsed part of the period: observed is the part before complete_to; missing is the rest, in which
-- fills may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.volume_periods
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period',
    `observed` Float64 COMMENT 'Fraction of the elapsed part of the period that the history is complete for, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the period that was fetched from another source, 0 to 1: always 0',
    `missing` Float64 COMMENT 'Fraction of the elapsed part of the period in which trades may be missing, 1 - observed, 0 to 1',
    `complete_to` DateTime64(6, 'UTC') COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete'
)
AS
WITH
{period_functions},
{period_starts}
SELECT scope, begins_at, ifNull(observed, 0) AS observed, ifNull(backfilled, 0) AS backfilled, ifNull(missing, 1) AS missing, complete_to
FROM
(
    SELECT
        scope,
        begins_at,
        ends_at,
        complete_to,
    {history_fractions}
    FROM
    (
        SELECT
            scope,
            assumeNotNull(volume_completeness.complete_to) AS complete_to,
            begins_at,
            period_end(begins_at) AS ends_at
        FROM {database}.volume_completeness
        ARRAY JOIN period_starts(
            parseDateTime64BestEffort({from_at:String}, 6, 'UTC'),
            least(parseDateTime64BestEffort({to_at:String}, 6, 'UTC'), now64(6, 'UTC'))
        ) AS begins_at
        WHERE volume_completeness.complete_to IS NOT NULL
    )
);
