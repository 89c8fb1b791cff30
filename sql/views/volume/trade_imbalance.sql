-- Was more of each market bought or sold, in each period?
--
--   SELECT * FROM trade_imbalance(period_seconds = 3600) WHERE scope = 'all' AND market = '...' ORDER BY begins_at
--
-- One row per scope, period and market, over fills, in exchange time. 2592000 is a calendar month in UTC. In YES terms a purchase
-- of NO is a sale: it needs YES to fall.
--   bought_shares = shares of BUY of YES and of SELL of NO;  sold_shares = shares of SELL of YES and of BUY of NO
--   imbalance     = (bought_shares - sold_shares) / (bought_shares + sold_shares): 1 when all was bought, -1 when all was sold
-- The interface does not say which side of an activity item was the taker. As in trade_quotes, the side of the item is taken as the
-- taker's: this is an assumption. For own, the side is ours, also where we were the maker. A fill without a known
-- outcome or side is counted in unsigned_trades and left out. Bought and sold shares may be added up over rows of one scope. A period
-- without fills has no row; after complete_to fills may be missing.
-- Completeness, as fractions of the elapsed part of the period: observed is the part before complete_to; missing is the rest, in which
-- fills may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.trade_imbalance
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `begins_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Start of the period, by the exchange; NULL when the trade has no time',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when absent',
    `bought_trades` UInt64 COMMENT 'Fills that bought YES or sold NO',
    `sold_trades` UInt64 COMMENT 'Fills that sold YES or bought NO',
    `unsigned_trades` UInt64 COMMENT 'Fills without a known outcome or side: left out of the other columns',
    `bought_shares` Decimal(38, 12) COMMENT 'Shares of the fills that bought YES or sold NO',
    `sold_shares` Decimal(38, 12) COMMENT 'Shares of the fills that sold YES or bought NO',
    `net_shares` Decimal(38, 12) COMMENT 'bought_shares - sold_shares, in shares',
    `imbalance` Nullable(Float64) COMMENT 'net_shares / (bought_shares + sold_shares), -1 to 1; NULL when both are 0',
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
    bought_trades,
    sold_trades,
    unsigned_trades,
    bought_shares,
    sold_shares,
    net_shares,
    imbalance,
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
            countIf(sign = 1) AS bought_trades,
            countIf(sign = -1) AS sold_trades,
            countIf(sign = 0) AS unsigned_trades,
            sumIf(quantity, sign = 1) AS bought_shares,
            sumIf(quantity, sign = -1) AS sold_shares,
            bought_shares - sold_shares AS net_shares,
            if(bought_shares + sold_shares = 0, NULL, toFloat64(net_shares) / toFloat64(bought_shares + sold_shares)) AS imbalance,
            any(known_to.complete_to) AS complete_to
        FROM
        (
            SELECT
                scope,
                period_start(executed_at) AS begins_at,
                event,
                market,
                quantity,
                multiIf((outcome, side) IN (('YES', 'BUY'), ('NO', 'SELL')), 1, (outcome, side) IN (('YES', 'SELL'), ('NO', 'BUY')), -1, 0) AS sign
            FROM {database}.fills
        ) AS traded
        LEFT JOIN (SELECT scope, complete_to FROM {database}.volume_completeness) AS known_to USING (scope)
        GROUP BY scope, begins_at, event, market
    )
);
