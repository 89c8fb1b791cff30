-- What did the shares of every account cost at the end of each day?
--
-- One row per account and asset that it traded: position_costs by UTC day, which has the formulas, as one array. Rows of assets that were
-- not traded since a worker computed them are read from position_states, the others are computed from the trades; so a trade counts as
-- soon as it is stored, also one that arrives late. position_costs has the readable form.
CREATE OR REPLACE VIEW {database}.position_days
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when absent',
    `market` String COMMENT 'Market ID; empty when absent',
    `asset` String COMMENT 'Asset ID',
    `days` Array(Tuple(begins_at DateTime64(6, 'UTC'), trades UInt64, last_trade_at Nullable(DateTime64(6, 'UTC')), bought_shares Decimal(38, 12), bought_value Decimal(38, 12), sold_shares Decimal(38, 12), sold_value Decimal(38, 12), fees Decimal(38, 12), cost Decimal(38, 12), fifo_cost Decimal(38, 12), oversold_shares Decimal(38, 12))) COMMENT 'Shares, and sums and costs in USDC, at the end of every UTC day with a trade, in order, as in position_costs(period_seconds = 86400)',
    `computed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a worker computed the row; NULL when it is computed from the trades by this query'
)
AS
WITH
    (period_time -> toDateTime64(toStartOfDay(period_time), 6, 'UTC')) AS period_of,
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
SELECT toString(account) AS account, toString(event) AS event, toString(market) AS market, toString(asset) AS asset, days, toNullable(computed_at) AS computed_at
FROM {database}.position_states FINAL
WHERE notEmpty(days) AND (account, asset, fingerprint) GLOBAL IN (SELECT account, asset, fingerprint FROM known)
UNION ALL
SELECT toString(account) AS account, toString(event) AS event, toString(market) AS market, toString(asset) AS asset, steps AS days, NULL AS computed_at
FROM
(
{period_costs}
);
