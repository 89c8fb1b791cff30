-- How large are the trades of each market, in each period?
--
--   SELECT * FROM trade_sizes(period_seconds = 86400) WHERE scope = 'all' AND market = '...' ORDER BY begins_at
--
-- One row per scope, period and market, over fills, in exchange time. 2592000 is a calendar month in UTC. The size of a fill is
-- its number of shares.
-- Percentiles are sizes that occurred, by the nearest rank: p90 is the smallest size that at least 90 % of the fills do not
-- exceed. They cannot be added up or averaged over rows. A period without fills has no row; after complete_to fills may be missing.
-- Completeness, as fractions of the elapsed part of the period: observed is the part before complete_to; missing is the rest, in which
-- fills may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.trade_sizes
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `begins_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Start of the period, by the exchange; NULL when the trade has no time',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when absent',
    `trades` UInt64 COMMENT 'Number of fills',
    `mean_shares` Float64 COMMENT 'Mean size, in shares',
    `min_shares` Decimal(38, 12) COMMENT 'Smallest size, in shares',
    `p10_shares` Decimal(38, 12) COMMENT '10th percentile of the sizes, in shares',
    `p50_shares` Decimal(38, 12) COMMENT 'Median size, in shares: of an even number of fills the lower of the two in the middle',
    `p90_shares` Decimal(38, 12) COMMENT '90th percentile of the sizes, in shares',
    `p99_shares` Decimal(38, 12) COMMENT '99th percentile of the sizes, in shares',
    `max_shares` Decimal(38, 12) COMMENT 'Largest size, in shares',
    `observed` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the period that the history is complete for, 0 to 1; NULL when the trade has no time',
    `backfilled` Nullable(Float64) COMMENT 'Fraction of the period that was fetched from another source, 0 to 1: always 0',
    `missing` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the period in which trades may be missing, 1 - observed, 0 to 1; NULL when the trade has no time',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
WITH
{period_functions}
SELECT
    scope,
    begins_at,
    event,
    market,
    trades,
    mean_shares,
    min_shares,
    p10_shares,
    p50_shares,
    p90_shares,
    p99_shares,
    max_shares,
    observed,
    backfilled,
    missing,
    complete_to
FROM
(
    SELECT
        *,
        period_end(begins_at) AS ends_at,
{history_fractions}
    FROM
    (
        SELECT
            CAST(scope, 'String') AS scope,
            begins_at,
            event,
            market,
            trades,
            toFloat64(arraySum(sizes)) / trades AS mean_shares,
            sizes[1] AS min_shares,
            sizes[intDiv(trades * 10 + 99, 100)] AS p10_shares,
            sizes[intDiv(trades * 50 + 99, 100)] AS p50_shares,
            sizes[intDiv(trades * 90 + 99, 100)] AS p90_shares,
            sizes[intDiv(trades * 99 + 99, 100)] AS p99_shares,
            sizes[-1] AS max_shares,
            known_to.complete_to AS complete_to
        FROM
        (
            SELECT
                scope,
                period_start(executed_at) AS begins_at,
                event,
                market,
                count() AS trades,
                arraySort(groupArray(quantity)) AS sizes
            FROM {database}.fills
            GROUP BY scope, begins_at, event, market
        ) AS traded
        LEFT JOIN (SELECT scope, complete_to FROM {database}.volume_completeness) AS known_to USING (scope)
    )
);
