-- Computes position_costs by day of the next assets of accounts.
INSERT INTO {database}.position_states (account, asset, event, market, days, fingerprint, computed_at)
WITH
    (period_time -> toDateTime64(toStartOfDay(period_time), 6, 'UTC')) AS period_of,
    open AS
    (
{open_positions}
    ),
    chosen_trades AS
    (
        SELECT * FROM {database}.trade_records FINAL
        WHERE side IN ('BUY', 'SELL') AND (account, asset) IN (SELECT account, asset FROM open)
    )
SELECT account, asset, costs.event, costs.market, costs.steps, open.fingerprint, now64(6, 'UTC')
FROM open
LEFT JOIN
(
{period_costs}
) AS costs USING (account, asset)
