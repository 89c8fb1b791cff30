-- How many users traded every market, every event, or anything, in each period?
--
--   SELECT * FROM traders_by_period(period_seconds = 86400, level = 'event') WHERE event = '...' ORDER BY begins_at
--
-- One row per period and market (level = 'market'), event ('event'), or per period ('all'), of the activity feed: of all users. A user who
-- bought and sold, or traded several markets of the event, counts once. An item of the feed names one user, who is taken as the
-- taker, as in trade_quotes: makers do not count. Users cannot be added up over rows: ask for the level and the length that you
-- need, or any window of traders_between. Users of a category are in volume_by_category.
-- Periods are aligned to the Unix epoch, in exchange time; 2592000 is a calendar month in UTC. A period without fills has no row; after
-- complete_to fills may be missing. A fill without a time is in the row whose begins_at is NULL.
-- Completeness, as fractions of the elapsed part of the period: observed is the part before complete_to; missing is the rest, in which
-- fills may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.traders_by_period
(
    `begins_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Start of the period, by the exchange; NULL when the trade has no time',
    `event` String COMMENT 'Event ID; empty when unknown, and at level all',
    `market` String COMMENT 'Market ID; empty when absent, and at the levels event and all',
    `traders` UInt64 COMMENT 'Number of different users who were the taker',
    `trades` UInt64 COMMENT 'Number of fills',
    `anonymous_trades` UInt64 COMMENT 'Fills whose user the feed does not name: their users are not counted',
    `observed` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the period that the history is complete for, 0 to 1; NULL when the trade has no time',
    `backfilled` Nullable(Float64) COMMENT 'Fraction of the period that was fetched from another source, 0 to 1: always 0',
    `missing` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the period in which trades may be missing, 1 - observed, 0 to 1; NULL when the trade has no time',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. NULL before the first complete walk'
)
AS
WITH
{period_functions}
SELECT begins_at, event, market, traders, trades, anonymous_trades, observed, backfilled, missing, complete_to
FROM
(
    SELECT
        *,
        period_end(begins_at) AS ends_at,
    {history_fractions}
    FROM
    (
        SELECT
            period_start(executed_at) AS begins_at,
{trader_sums}
        FROM {database}.activity AS activity
        WHERE NOT throwIf({level:String} NOT IN ('market', 'event', 'all'), 'level is market, event or all')
        GROUP BY begins_at, event, market
    ) AS counted
    CROSS JOIN (SELECT maxOrNull(history_completeness.complete_to) AS complete_to FROM {database}.history_completeness WHERE operation = 'activity') AS read_to
);
