-- How many users traded every market, every event, or anything, between two times?
--
--   SELECT * FROM traders_between(level = 'event', from_at = '2026-01-05', to_at = '2026-01-12') ORDER BY traders DESC
--
-- One row per market (level = 'market'), event ('event'), or one row ('all'), of the fills of the activity feed in [from_at, to_at),
-- UTC, in exchange time: of all users. The rules are those of traders_by_period. from_at = '1970-01-01' takes all fills from the first
-- one, and reads each of them: the sums of days that volume_by_market and volume_by_event read cannot give this number. Markets and
-- events without fills have no row.
-- Completeness, as fractions of the elapsed part of the window: observed is the part before complete_to; missing is the rest, in which
-- fills may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.traders_between
(
    `event` String COMMENT 'Event ID; empty when unknown, and at level all',
    `market` String COMMENT 'Market ID; empty when absent, and at the levels event and all',
    `traders` UInt64 COMMENT 'Number of different users who were the taker',
    `trades` UInt64 COMMENT 'Number of fills',
    `anonymous_trades` UInt64 COMMENT 'Fills whose user the feed does not name: their users are not counted',
    `observed` Float64 COMMENT 'Fraction of the elapsed part of the window that the history is complete for, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the window that was fetched from another source, 0 to 1: always 0',
    `missing` Float64 COMMENT 'Fraction of the elapsed part of the window in which trades may be missing, 1 - observed, 0 to 1',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. NULL before the first complete walk'
)
AS
SELECT
    event,
    market,
    traders,
    trades,
    anonymous_trades,
    assumeNotNull(observed) AS observed,
    assumeNotNull(backfilled) AS backfilled,
    assumeNotNull(missing) AS missing,
    complete_to
FROM
(
    SELECT
        *,
        parseDateTime64BestEffort({from_at:String}, 6, 'UTC') AS begins_at,
        parseDateTime64BestEffort({to_at:String}, 6, 'UTC') AS ends_at,
    {history_fractions}
    FROM
    (
        SELECT
{trader_sums}
        FROM {database}.activity AS activity
        WHERE NOT throwIf({level:String} NOT IN ('market', 'event', 'all'), 'level is market, event or all')
            AND executed_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC')
            AND executed_at < parseDateTime64BestEffort({to_at:String}, 6, 'UTC')
        GROUP BY event, market
    ) AS counted
    CROSS JOIN (SELECT maxOrNull(history_completeness.complete_to) AS complete_to FROM {database}.history_completeness WHERE operation = 'activity') AS read_to
);
