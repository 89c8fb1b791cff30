-- What did our accounts buy and sell of every asset in all, and what did the shares cost that they still hold?
--
-- One row per account and asset: the row of position_costs(period_seconds = 0), which has the formulas. Rows of assets that were not
-- traded since a worker computed them are read from position_states, the others are computed from the trades; so a trade counts
-- as soon as it is stored, also one that arrives late. holdings has the readable form.
CREATE OR REPLACE VIEW {database}.position_totals
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when absent',
    `market` String COMMENT 'Market ID; empty when absent',
    `asset` String COMMENT 'Asset ID',
    `trades` UInt64 COMMENT 'Number of trades',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last one, by the exchange; NULL when absent',
    `bought_shares` Decimal(38, 12) COMMENT 'Shares bought',
    `bought_value` Decimal(38, 12) COMMENT 'Worth of the purchases without fees, USDC',
    `sold_shares` Decimal(38, 12) COMMENT 'Shares sold',
    `sold_value` Decimal(38, 12) COMMENT 'Proceeds of the sales without fees, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `average_cost` Decimal(38, 12) COMMENT 'Cost of the held shares by average cost, USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost of the held shares, first in, first out, USDC',
    `oversold_shares` Decimal(38, 12) COMMENT 'Maximum of the shares sold beyond the known holding; 0 when the history is complete',
    `computed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a worker computed the row; NULL when it is computed from the trades by this query'
)
AS
WITH
    toUInt32(0) AS period_length,
    known AS
    (
{asset_fingerprints}
    ),
    chosen_trades AS
    (
        SELECT * FROM {database}.trade_records FINAL
        WHERE side IN ('BUY', 'SELL') AND (account, asset) GLOBAL IN
        (
            SELECT account, asset FROM known
            WHERE (account, asset, fingerprint) GLOBAL NOT IN (SELECT account, asset, fingerprint FROM {database}.position_states FINAL)
        )
    )
SELECT
    toString(account) AS account, toString(event) AS event, toString(market) AS market, toString(asset) AS asset, trades, last_trade_at,
    bought_shares, bought_value, sold_shares, sold_value, fees, average_cost, fifo_cost, oversold_shares, toNullable(computed_at) AS computed_at
FROM {database}.position_states FINAL
WHERE trades > 0 AND (account, asset, fingerprint) GLOBAL IN (SELECT account, asset, fingerprint FROM known)
UNION ALL
SELECT
    account, event, market, asset, trades, last_trade_at,
    bought_shares, bought_value, sold_shares, sold_value, fees, average_cost, fifo_cost, oversold_shares, NULL AS computed_at
FROM
(
{cost_folds}
);
