-- What did our accounts buy and sell of every asset in all, and what did the shares cost that they still hold?
--
-- One row per account and asset: the row of position_costs(period_seconds = 0), which has the formulas. holdings has the readable form.
CREATE OR REPLACE VIEW {database}.position_totals
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when absent',
    `market` String COMMENT 'Market ID; empty when absent',
    `asset` String COMMENT 'Asset ID',
    `trades` UInt64 COMMENT 'Number of trades',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last one, by the exchange; NULL when absent',
    `bought_shares` Decimal(38, 12) COMMENT 'Shares bought',
    `bought_value` Decimal(38, 12) COMMENT 'Cost of the purchases without fees, USDC',
    `sold_shares` Decimal(38, 12) COMMENT 'Shares sold',
    `sold_value` Decimal(38, 12) COMMENT 'Proceeds of the sales without fees, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (average cost method), USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (first in, first out), USDC',
    `oversold_shares` Decimal(38, 12) COMMENT 'Maximum of the shares sold beyond the known holding; 0 when the history is complete',
    `computed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a worker computed the row; NULL when it is computed from the trades by this query'
)
AS
SELECT
    account,
    event,
    market,
    asset,
    total.2 AS trades,
    total.3 AS last_trade_at,
    total.4 AS bought_shares,
    total.5 AS bought_value,
    total.6 AS sold_shares,
    total.7 AS sold_value,
    total.8 AS fees,
    total.9 AS cost,
    total.10 AS fifo_cost,
    total.11 AS oversold_shares,
    computed_at
FROM (SELECT account, event, market, asset, days[-1] AS total, computed_at FROM {database}.position_days);
