-- What is the profit or loss of every account?
--
-- The sums of pnl_by_asset, which has the formulas; pnl_sums has them at other prices. If the chance of one asset is unknown, the sums that depend on it are
-- NULL. `inferred` counts the assets whose settlement follows from the last chance, `unexplained` those whose payout or
-- history does not match the recorded trades, although all of them up to complete_to are recorded.
CREATE OR REPLACE VIEW {database}.pnl_by_account
(
    `account` String COMMENT 'Configured name of the account',
    `assets` UInt64 COMMENT 'Number of assets that were traded',
    `open_assets` UInt64 COMMENT 'Number of assets that are held',
    `inferred` UInt64 COMMENT 'Number of assets whose settlement is inferred',
    `unexplained` UInt64 COMMENT 'Number of assets that are is_unexplained in pnl_by_asset',
    `trades` UInt64 COMMENT 'Number of trades',
    `bought_value` Decimal(38, 12) COMMENT 'Cost of the purchases without fees, USDC',
    `sold_value` Decimal(38, 12) COMMENT 'Proceeds of the sales without fees, USDC',
    `payout` Decimal(38, 12) COMMENT 'Payouts of resolved markets, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (average cost method), USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (first in, first out), USDC',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Value of the held shares at the chance, USDC; NULL when a chance is unknown',
    `realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss by average cost, without fees, USDC',
    `unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - cost, USDC; NULL when a chance is unknown',
    `fifo_realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss, first in, first out, without fees, USDC',
    `fifo_unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - fifo_cost, USDC; NULL when a chance is unknown',
    `cash_flow` Decimal(38, 12) COMMENT 'sold_value - bought_value + payout, USDC: what is realised by cash flow',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'realised_pnl + unrealised_pnl - fees, USDC; NULL when a chance is unknown',
    `computed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Earliest time at which a worker computed the sums and costs of one of the assets; NULL when this query computed all of them from the trades',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock (account_completeness); NULL before the first complete walks'
)
AS
SELECT * EXCEPT (yes_shares, no_shares, pairs)
FROM
(
    SELECT
        account,
{pnl_sums}
    FROM {database}.pnl_by_asset AS assets
    GROUP BY account
);
