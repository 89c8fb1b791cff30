-- What was the equity of every account at the end of each period, and what did it earn by asset?
--
-- For account_performance. The sums of pnl_by_period, which says what the arguments are, by period (is_period: the rows of equity_curve, which has the formulas) and
-- by asset (the others: over all periods, without equity and drawdown). One view for both, so that pnl_by_period is planned once.
CREATE OR REPLACE VIEW {database}.account_periods
(
    `account` String COMMENT 'Configured name of the account',
    `market` String COMMENT 'Rows of an asset: market ID, empty when unknown. Rows with is_period: empty',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Rows with is_period: start of the period. Rows of an asset: 1970-01-01',
    `is_period` Bool COMMENT 'Whether the row is a period of all assets; other rows are an asset over all periods',
    `last_shares` Decimal(38, 12) COMMENT 'Rows of an asset: held shares at the end of its last period. Rows with is_period: without meaning',
    `trades` UInt64 COMMENT 'Number of trades',
    `cost` Decimal(38, 12) COMMENT 'Rows with is_period: cost basis of the held shares at the end of the period (average cost method), USDC. Rows of an asset: the sum of these over its periods',
    `unpriced` UInt64 COMMENT 'Rows with is_period: held assets without a known price at the end of the period. Rows of an asset: its periods without one',
    `cash_flow` Decimal(38, 12) COMMENT 'Sales - purchases + payouts, without fees, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `equity` Nullable(Decimal(38, 12)) COMMENT 'Profit or loss up to the end of the period after fees, USDC; NULL when a price is unknown',
    `drawdown` Nullable(Decimal(38, 12)) COMMENT 'Highest known equity so far - equity, USDC; NULL when a price is unknown',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock; NULL before the first complete walks'
)
AS
WITH periods AS
(
    SELECT
        account,
        market,
        begins_at,
        grouping(assets.asset) = 1 AS is_period,
        argMax(assets.shares, assets.begins_at) AS last_shares,
{period_sums}
    FROM {database}.pnl_by_period(period_seconds = {period_seconds:UInt32}, price = {price:String}) AS assets
    GROUP BY GROUPING SETS ((account, begins_at), (account, market, asset))
)
SELECT account, market, begins_at, toBool(is_period) AS is_period, last_shares, trades, cost, unpriced, cash_flow, fees, equity, drawdown, complete_to
FROM
(
{account_equity}
);
