-- How well did every account trade?
--
--   SELECT * FROM account_performance(period_seconds = 86400, price = 'chance') ORDER BY pnl DESC
--
-- From equity_curve and, for closed markets, pnl_by_market. A market is closed for an account that traded it and holds nothing of
-- it; it is won if its pnl (after fees) is above 0.
--   hit_rate          = won_markets / closed_markets
--   max_capital       = highest average cost of all held shares at the end of a period
--   return_on_capital = pnl / max_capital
-- A smaller period finds a higher max_capital and a deeper drawdown: both see only the ends of periods.
CREATE OR REPLACE VIEW {database}.account_performance
(
    `account` String COMMENT 'Configured name of the account',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period of the first trade',
    `trades` UInt64 COMMENT 'Number of trades',
    `pnl` Decimal(38, 12) COMMENT 'Profit or loss after fees, USDC; exact where unpriced is 0',
    `unpriced` UInt64 COMMENT 'Held assets whose price is unknown now',
    `max_drawdown` Decimal(38, 12) COMMENT 'Largest fall from the highest equity before it, USDC',
    `max_capital` Decimal(38, 12) COMMENT 'Highest average cost of the held shares at the end of a period, USDC',
    `return_on_capital` Nullable(Float64) COMMENT 'pnl / max_capital, as a fraction: 0.1 is 10 %; NULL when max_capital is 0',
    `closed_markets` UInt64 COMMENT 'Traded markets of which nothing is held',
    `won_markets` UInt64 COMMENT 'Closed markets with a profit',
    `hit_rate` Nullable(Float64) COMMENT 'won_markets / closed_markets, 0 to 1; NULL without closed markets',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock; NULL before the first complete walks'
)
AS
SELECT
    account,
    first_at AS begins_at,
    trades,
    pnl,
    unpriced,
    max_drawdown,
    max_capital,
    if(max_capital = 0, NULL, toFloat64(pnl) / toFloat64(max_capital)) AS return_on_capital,
    closed AS closed_markets,
    won AS won_markets,
    if(closed = 0, NULL, won / closed) AS hit_rate,
    complete_to
FROM
(
    SELECT
        account,
        min(curve.begins_at) AS first_at,
        sum(curve.trades) AS trades,
        argMax(equity, curve.begins_at) AS pnl,
        argMax(curve.unpriced, curve.begins_at) AS unpriced,
        max(drawdown) AS max_drawdown,
        max(cost) AS max_capital,
        any(curve.complete_to) AS complete_to
    FROM {database}.equity_curve(period_seconds = {period_seconds:UInt32}, price = {price:String}) AS curve
    GROUP BY account
) AS curves
LEFT JOIN
(
    SELECT account, countIf(open_assets = 0) AS closed, countIf(open_assets = 0 AND ifNull(pnl_by_market.pnl > 0, false)) AS won
    FROM {database}.pnl_by_market
    GROUP BY account
) AS markets USING (account);
