-- Computes position_costs of the next assets of accounts.
INSERT INTO {database}.position_states
(
    account, asset, event, market, trades, last_trade_at, bought_shares, bought_value, sold_shares, sold_value, fees, average_cost, fifo_cost,
    oversold_shares, fingerprint, computed_at
)
WITH
    toUInt32(0) AS period_length,
    open AS
    (
{open_positions}
    ),
    chosen_trades AS
    (
        SELECT * FROM {database}.trade_records FINAL
        WHERE side IN ('BUY', 'SELL') AND (account, asset) IN (SELECT account, asset FROM open)
    )
SELECT
    account, asset, costs.event, costs.market, costs.trades, costs.last_trade_at, costs.bought_shares, costs.bought_value, costs.sold_shares,
    costs.sold_value, costs.fees, costs.average_cost, costs.fifo_cost, costs.oversold_shares, open.fingerprint, now64(6, 'UTC')
FROM open
LEFT JOIN
(
{cost_folds}
) AS costs USING (account, asset)
