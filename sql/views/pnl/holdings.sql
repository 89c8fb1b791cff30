-- What did our accounts buy and sell of every asset, and what did the shares that they still hold cost?
--
-- By average cost, as the exchange counts it, and first in, first out: position_costs has the formulas. Fees are not part of
-- the cost.
--
-- If the beginning of the history is missing, more shares may have been sold than are known to have been bought: then
-- oversold_shares is above 0 and the costs are meaningless. Payouts of resolved markets are in pnl_by_asset.
-- While trades are not read yet, oversold_shares may be above 0 too: compare complete_to with last_trade_at.
-- The sums always include every stored trade. computed_at is the time at which a worker stored them.
CREATE OR REPLACE VIEW {database}.holdings
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when absent',
    `market` String COMMENT 'Market ID; empty when absent',
    `asset` String COMMENT 'Asset ID',
    `trades` UInt64 COMMENT 'Number of trades',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last trade, by the exchange',
    `bought_shares` Decimal(38, 12) COMMENT 'Shares bought',
    `bought_value` Decimal(38, 12) COMMENT 'Cost of the purchases without fees, USDC',
    `sold_shares` Decimal(38, 12) COMMENT 'Shares sold',
    `sold_value` Decimal(38, 12) COMMENT 'Proceeds of the sales without fees, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `shares` Decimal(38, 12) COMMENT 'Shares bought less shares sold',
    `cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (average cost method), without fees, USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (first in, first out), without fees, USDC',
    `oversold_shares` Decimal(38, 12) COMMENT 'Maximum of the shares sold beyond the known holding; 0 when the history is complete',
    `computed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a worker computed the sums and costs of the trades; NULL when this query computed them from the trades, as after a later trade',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade of the account up to this time is included, by our clock (account_completeness); NULL before the first complete walk'
)
AS
SELECT
    account,
    event,
    market,
    asset,
    trades,
    last_trade_at,
    bought_shares,
    bought_value,
    sold_shares,
    sold_value,
    fees,
    bought_shares - sold_shares AS shares,
    cost,
    fifo_cost,
    oversold_shares,
    computed_at,
    complete_to
FROM {database}.position_totals
LEFT JOIN (SELECT account, trades_complete_to AS complete_to FROM {database}.account_completeness) AS known_to USING (account);
