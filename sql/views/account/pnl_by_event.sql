-- What is the profit or loss of every account per event?
--
-- The sums of pnl_by_asset, which has the formulas. If the chance of one asset is unknown, the sums that depend on it are
-- NULL. `inferred` counts the assets whose settlement follows from the last chance, `unexplained` those whose payout or
-- history does not match the recorded trades.
CREATE OR REPLACE VIEW {database}.pnl_by_event
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `event` LowCardinality(String) COMMENT 'Event ID; empty when it is not known',
    `assets` UInt64 COMMENT 'Number of assets that were traded',
    `open_assets` UInt64 COMMENT 'Number of assets that are held',
    `inferred` UInt64 COMMENT 'Number of assets whose settlement is inferred',
    `unexplained` UInt64 COMMENT 'Number of assets with a payout_difference or oversold_shares',
    `trades` UInt64 COMMENT 'Number of trades',
    `bought_value` Decimal(38, 12) COMMENT 'What was bought cost without fees, USDC',
    `sold_value` Decimal(38, 12) COMMENT 'What was sold brought without fees, USDC',
    `payout` Decimal(38, 12) COMMENT 'What resolved markets paid, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `cost` Decimal(38, 12) COMMENT 'Cost of what is held, USDC',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Worth of what is held at the chance, USDC; NULL when a chance is not known',
    `realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss without fees, USDC',
    `unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - cost; NULL when a chance is not known',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'realised_pnl + unrealised_pnl - fees; NULL when a chance is not known'
)
AS
SELECT
    account, event,
    count() AS assets,
    countIf(shares != 0) AS open_assets,
    countIf(settlement = 'inferred') AS inferred,
    countIf(ifNull(payout_difference, 0) != 0 OR oversold_shares != 0) AS unexplained,
    sum(pnl_by_asset.trades) AS trades,
    sum(pnl_by_asset.bought_value) AS bought_value,
    sum(pnl_by_asset.sold_value) AS sold_value,
    sum(pnl_by_asset.payout) AS payout,
    sum(pnl_by_asset.fees) AS fees,
    sum(pnl_by_asset.cost) AS cost,
    if(countIf(pnl_by_asset.value IS NULL) > 0, NULL, sum(pnl_by_asset.value)) AS value,
    sum(pnl_by_asset.realised_pnl) AS realised_pnl,
    value - cost AS unrealised_pnl,
    realised_pnl + unrealised_pnl - fees AS pnl
FROM {database}.pnl_by_asset
GROUP BY account, event;
