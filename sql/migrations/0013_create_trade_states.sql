-- Profit and volume of our accounts, so that questions about them do not read every trade.
--
-- trade_states has, of every asset of an account and every partition of the log, the offset of the last record with a trade of it. A
-- hash of the offsets in a market is its fingerprint, and that of the assets that an account traded in it. The worker stores with each row of
-- position_states and own_volumes the fingerprint of the trades that it was computed from. Rows with another fingerprint than that of
-- trade_states are ignored, and the views compute them from the trades: a trade that arrives later counts at once.
CREATE TABLE IF NOT EXISTS {database}.trade_states
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `asset` LowCardinality(String) COMMENT 'Asset ID; empty when absent',
    `market` LowCardinality(String) COMMENT 'Market ID; empty when absent',
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account',
    `_partition` UInt32 COMMENT 'Partition of the topic',
    `last_offset` SimpleAggregateFunction(max, UInt64) COMMENT 'Offset of the last record with a trade of the asset'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY (account, asset, market, _log, _partition)
SETTINGS {view_settings}
COMMENT 'The assets and markets that our accounts traded, and where their last trades are on the bus';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.trade_states_of_records TO {database}.trade_states AS
SELECT account, asset, market, `_log`, `_partition`, max(`_offset`) AS last_offset
FROM {database}.trade_records
GROUP BY account, asset, market, `_log`, `_partition`;

CREATE TABLE IF NOT EXISTS {database}.position_states
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `asset` LowCardinality(String) COMMENT 'Asset ID',
    `event` LowCardinality(String) COMMENT 'Event ID; empty when absent',
    `market` LowCardinality(String) COMMENT 'Market ID; empty when absent',
    `days` Array(Tuple(begins_at DateTime64(6, 'UTC'), trades UInt64, last_trade_at Nullable(DateTime64(6, 'UTC')), bought_shares Decimal(38, 12), bought_value Decimal(38, 12), sold_shares Decimal(38, 12), sold_value Decimal(38, 12), fees Decimal(38, 12), cost Decimal(38, 12), fifo_cost Decimal(38, 12), oversold_shares Decimal(38, 12))) COMMENT 'Shares, and sums and costs in USDC, at the end of every UTC day with a trade, in order, as in position_costs(period_seconds = 86400)' CODEC(ZSTD(1)),
    `fingerprint` UInt64 COMMENT 'Hash of the last offsets in trade_states when it was computed; while these have another one, the row is ignored',
    `computed_at` DateTime64(6, 'UTC') COMMENT 'When it was computed; the latest row counts'
)
ENGINE = {engine:ReplacingMergeTree(computed_at)}
ORDER BY (account, asset)
SETTINGS {view_settings}
COMMENT 'What the shares of an account cost at the end of every day, as in position_costs. Read it through the views position_totals and position_costs';

CREATE TABLE IF NOT EXISTS {database}.own_volumes
(
    `market` LowCardinality(String) COMMENT 'Market ID; empty when absent',
    `sums` Array(Tuple(executed_day Nullable(Date), event String, asset String, trades UInt64, shares Decimal(38, 12), value Decimal(76, 24))) COMMENT 'Sums by UTC day, event and asset over the fills with one record: their number, shares, and quantity × price in USDC' CODEC(ZSTD(1)),
    `shared_fills` Array(UInt64) COMMENT 'Hashes of the IDs of the fills with two records, as between two of our accounts: they are in no sum' CODEC(ZSTD(1)),
    `fingerprint` UInt64 COMMENT 'Hash of the last offsets in trade_states when it was computed; while these have another one, the row is ignored',
    `computed_at` DateTime64(6, 'UTC') COMMENT 'When it was computed; the latest row counts'
)
ENGINE = {engine:ReplacingMergeTree(computed_at)}
ORDER BY market
SETTINGS {view_settings}
COMMENT 'Volume of our accounts in a market. Read it through the view volume_by_market_and_day';
