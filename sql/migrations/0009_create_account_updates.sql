-- Messages of the private streams.
CREATE TABLE IF NOT EXISTS {database}.order_updates
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one frame) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the frame' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `connection_id` LowCardinality(String) COMMENT 'UUID of the WebSocket connection' CODEC(ZSTD(1)),
    `type` Enum8('order' = 1, 'tpsl' = 2) COMMENT 'order: ORDER_UPDATE, an order was placed or failed. tpsl: TPSL_UPDATE, a TP/SL order changed its state' CODEC(ZSTD(1)),
    `order_id` String COMMENT 'ID of the order, or of the TP/SL order' CODEC(ZSTD(1)),
    `user_id` LowCardinality(String) COMMENT 'User ID; empty when absent' CODEC(ZSTD(1)),
    `status` LowCardinality(String) COMMENT 'Status: of an order SUCCESS or FAILED; empty when absent' CODEC(ZSTD(1)),
    `asset` String COMMENT 'tpsl: asset ID; empty when absent' CODEC(ZSTD(1)),
    `quantity` Nullable(Decimal(38, 12)) COMMENT 'tpsl: shares' CODEC(ZSTD(1)),
    `take_profit_price` Nullable(Decimal(38, 12)) COMMENT 'tpsl: price at or above which it sells; NULL when it has none' CODEC(ZSTD(1)),
    `stop_loss_price` Nullable(Decimal(38, 12)) COMMENT 'tpsl: price at or below which it sells; NULL when it has none' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (account, type, order_id, received_at, `_offset`, `_index`)
SETTINGS {log_settings}
COMMENT 'Messages of the order updates stream of the configured accounts (part 6.3)';

CREATE TABLE IF NOT EXISTS {database}.balance_updates
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one frame) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the frame' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `connection_id` LowCardinality(String) COMMENT 'UUID of the WebSocket connection' CODEC(ZSTD(1)),
    `source` Enum8('list' = 1, 'update' = 2) COMMENT 'list: all balances, after AUTH. update: a change' CODEC(ZSTD(1)),
    `user_id` LowCardinality(String) COMMENT 'User ID; empty when absent' CODEC(ZSTD(1)),
    `asset` String COMMENT 'Asset ID: a coin, or an outcome asset' CODEC(ZSTD(1)),
    `balance` Decimal(38, 12) COMMENT 'Total including what orders lock: USDC or shares' CODEC(ZSTD(1)),
    `free` Nullable(Decimal(38, 12)) COMMENT 'Amount not locked by orders' CODEC(ZSTD(1)),
    `cost` Nullable(Decimal(38, 12)) COMMENT 'Cost of the shares, USDC' CODEC(ZSTD(1)),
    `average_open_price` Nullable(Float64) COMMENT 'Average cost of a share, USDC, as divided by the exchange' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (account, asset, received_at, `_offset`, `_index`)
SETTINGS {log_settings}
COMMENT 'Balances in messages of the balance stream of the configured accounts (part 6.4)';
