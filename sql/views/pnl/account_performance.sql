-- How well did every account trade?
--
--   SELECT * FROM account_performance(period_seconds = 86400, price = 'chance') ORDER BY pnl DESC
--
-- From the sums of pnl_by_period, which says what `price` and the periods are. A market is closed for an account that traded it and holds nothing of
-- it (of a market without known trades, a payout counts in pnl alone); it is won if its pnl (after fees) is above 0.
--   hit_rate          = won_markets / closed_markets
--   max_capital       = highest cost basis of all held shares (average cost method) at the end of a period
--   return_on_capital = pnl / max_capital
-- A smaller period finds a higher max_capital and a deeper drawdown: both see only the ends of periods. While the price of a held asset
-- is unknown (unpriced), pnl, return_on_capital and max_drawdown are NULL. max_drawdown does not see the periods that had no equity for
-- this reason: unpriced_periods counts them.
CREATE OR REPLACE VIEW {database}.account_performance
(
    `account` String COMMENT 'Configured name of the account',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period of the first trade or payout',
    `trades` UInt64 COMMENT 'Number of trades',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'Profit or loss after fees, USDC; NULL when unpriced is above 0',
    `unpriced` UInt64 COMMENT 'Held assets whose price is unknown now',
    `unpriced_periods` UInt64 COMMENT 'Periods at whose end the price of a held asset was unknown: max_drawdown does not see them',
    `max_drawdown` Nullable(Decimal(38, 12)) COMMENT 'Largest fall from the highest equity before it, USDC; NULL when unpriced is above 0',
    `max_capital` Decimal(38, 12) COMMENT 'Highest cost basis of the held shares (average cost method) at the end of a period, USDC',
    `return_on_capital` Nullable(Float64) COMMENT 'pnl / max_capital, as a fraction: 0.1 is 10 %; NULL when max_capital is 0 or unpriced is above 0',
    `closed_markets` UInt64 COMMENT 'Traded markets in which nothing is held any more',
    `won_markets` UInt64 COMMENT 'Closed markets with a profit',
    `hit_rate` Nullable(Float64) COMMENT 'won_markets / closed_markets, 0 to 1; NULL without closed markets',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock; NULL before the first complete walks'
)
AS
SELECT
    account,
    minIf(first_at, is_period) AS begins_at,
    sumIf(traded, is_period) AS trades,
    if(unpriced > 0, NULL, anyIf(equity_now, is_period)) AS pnl,
    anyIf(unpriced_now, is_period) AS unpriced,
    sumIf(periods_without, is_period) AS unpriced_periods,
    if(unpriced > 0, NULL, maxIf(deepest, is_period)) AS max_drawdown,
    maxIf(highest, is_period) AS max_capital,
    if(max_capital = 0, NULL, toFloat64(pnl) / toFloat64(max_capital)) AS return_on_capital,
    countIf(is_closed) AS closed_markets,
    countIf(is_closed AND gained > 0) AS won_markets,
    if(closed_markets = 0, NULL, won_markets / closed_markets) AS hit_rate,
    any(known_to) AS complete_to
FROM
(
    SELECT
        account,
        is_period,
        min(begins_at) AS first_at,
        sum(trades) AS traded,
        argMax(equity, begins_at) AS equity_now,
        argMax(unpriced, begins_at) AS unpriced_now,
        countIf(unpriced > 0) AS periods_without,
        max(drawdown) AS deepest,
        max(cost) AS highest,
        NOT is_period AND traded > 0 AND countIf(last_shares != 0) = 0 AS is_closed,
        -- The pnl after fees of a market in which nothing is held any more.
        sum(cash_flow) - sum(fees) AS gained,
        any(complete_to) AS known_to
    FROM {database}.account_periods(period_seconds = {period_seconds:UInt32}, price = {price:String})
    GROUP BY account, is_period, market
)
GROUP BY account;
