-- How did the profit or loss of every account add up, and how far was it below its best?
--
--   SELECT * FROM equity_curve(period_seconds = 86400, price = 'chance') WHERE account = '...' ORDER BY begins_at
--
-- The sums of pnl_by_period, which has the formulas, the periods and what `price` may be, over all assets of an account. (chance is the price of the
-- last trade in the order book, without the chance stream and history that pnl_by_account takes where the book never had a tick.) A
-- period in which the account held nothing and did not trade has no row.
--   equity   = pnl of the period and all before it, after fees; deposits and withdrawals are no part of it
--   drawdown = highest equity so far (at least 0, before the first trade) - equity
-- `unpriced` counts the held assets whose price is unknown at the end of the period. Where it is above 0, value, pnl, equity and drawdown
-- are NULL, and the pnl of the next period in which all prices are known covers the time since the last known equity. So the sum of pnl
-- is the equity.
--
-- Completeness, as fractions of the elapsed part of the period: observed is the part before complete_to; missing is the rest, in which
-- trades and transactions may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.equity_curve
(
    `account` String COMMENT 'Configured name of the account',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period',
    `trades` UInt64 COMMENT 'Trades in the period',
    `cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares at the end (average cost method), USDC',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Value of the held shares at the end, USDC; NULL when a price is unknown',
    `unpriced` UInt64 COMMENT 'Held assets without a known price at the end; at chance those whose order book has had no tick',
    `realised_pnl` Decimal(38, 12) COMMENT 'Realised in the period by average cost, without fees, USDC',
    `fifo_realised_pnl` Decimal(38, 12) COMMENT 'Realised in the period, first in, first out, without fees, USDC',
    `cash_flow` Decimal(38, 12) COMMENT 'Sales - purchases + payouts of the period, without fees, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees of the period, USDC',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'Profit or loss of the period after fees, USDC: since the last known equity; NULL when a price is unknown',
    `equity` Nullable(Decimal(38, 12)) COMMENT 'Profit or loss up to the end of the period after fees, USDC; NULL when a price is unknown',
    `drawdown` Nullable(Decimal(38, 12)) COMMENT 'Highest known equity so far - equity, USDC; 0 at a new high; NULL when a price is unknown',
    `observed` Float64 COMMENT 'Fraction of the elapsed part of the period that the trades and transactions of the account are complete for, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the period that was fetched from another source, 0 to 1: always 0',
    `missing` Float64 COMMENT 'Fraction of the elapsed part of the period in which trades and transactions may be missing, 1 - observed, 0 to 1',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock; NULL before the first complete walks'
)
AS
WITH periods AS
(
    SELECT
        account,
        begins_at,
        true AS is_period,
{period_sums}
    FROM {database}.pnl_by_period(period_seconds = {period_seconds:UInt32}, price = {price:String}) AS assets
    GROUP BY account, begins_at
)
SELECT
    account,
    begins_at,
    trades,
    cost,
    value,
    unpriced,
    realised_pnl,
    fifo_realised_pnl,
    cash_flow,
    fees,
    pnl,
    equity,
    drawdown,
    observed,
    backfilled,
    missing,
    complete_to
FROM
(
{account_equity}
);
