-- Records of accounts that have an ID of their own: one row each, however often they are polled; the latest observation
-- counts. No table is partitioned, so that a record cannot be in two partitions and FINAL returns each once. Read them
-- through the views orders, trades, transactions and activity, which use FINAL.
--
-- Money, shares and fees are decimals with every digit that the exchange sent. A record with an amount that does not fit
-- 12 decimals is a dead letter; nothing is rounded.
CREATE TABLE IF NOT EXISTS {database}.order_records
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response. Of several observations the latest counts' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `order_id` String COMMENT 'Order ID' CODEC(ZSTD(1)),
    `user_id` LowCardinality(String) COMMENT 'User ID; empty when absent' CODEC(ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID; empty when absent' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID); empty when absent' CODEC(ZSTD(1)),
    `asset` LowCardinality(String) COMMENT 'Asset ID; empty when absent' CODEC(ZSTD(1)),
    `side` LowCardinality(String) COMMENT 'BUY or SELL; empty when absent' CODEC(ZSTD(1)),
    `type` LowCardinality(String) COMMENT 'LIMIT or MARKET; empty when absent' CODEC(ZSTD(1)),
    `status` LowCardinality(String) COMMENT 'Status when it was received, such as ACTIVE, FILLED, CANCELLED or FAILED; empty when absent' CODEC(ZSTD(1)),
    `price` Nullable(Decimal(38, 12)) COMMENT 'USDC per share: the limit, or the average price of a market order' CODEC(ZSTD(1)),
    `original_quantity` Nullable(Decimal(38, 12)) COMMENT 'Ordered shares' CODEC(ZSTD(1)),
    `filled_quantity` Nullable(Decimal(38, 12)) COMMENT 'Filled shares' CODEC(ZSTD(1)),
    `placed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was placed, by the exchange' CODEC(ZSTD(1)),
    `expires_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it expires, by the exchange; NULL when it does not' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
ORDER BY (account, order_id)
SETTINGS {log_settings}
COMMENT 'Orders of the configured accounts, from their order history. Read them through the view orders (part 4.4)';

CREATE TABLE IF NOT EXISTS {database}.trade_records
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response. Of several observations the latest counts' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `pass_began_at` DateTime64(6, 'UTC') COMMENT 'When page 0 of this pass over the pages was received: a walk begins at page 0 again when it finds new records in front' CODEC(Delta, ZSTD(1)),
    `trade_record_id` String COMMENT 'ID of this side of the fill' CODEC(ZSTD(1)),
    `trade_id` String COMMENT 'ID of the fill, which both sides share; empty when absent' CODEC(ZSTD(1)),
    `user_id` LowCardinality(String) COMMENT 'User ID; empty when absent' CODEC(ZSTD(1)),
    `order_id` String COMMENT 'Order ID; empty when absent' CODEC(ZSTD(1)),
    `side` LowCardinality(String) COMMENT 'BUY or SELL; empty when absent' CODEC(ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID; empty when absent' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID); empty when absent' CODEC(ZSTD(1)),
    `asset` LowCardinality(String) COMMENT 'ID of the asset that this side traded: where a pair of YES and NO was minted or merged, each side its own; empty when absent' CODEC(ZSTD(1)),
    `quantity` Decimal(38, 12) COMMENT 'Shares' CODEC(ZSTD(1)),
    `price` Decimal(38, 12) COMMENT 'USDC per share of the asset of this side' CODEC(ZSTD(1)),
    `fee` Nullable(Decimal(38, 12)) COMMENT 'Fee that this side paid, USDC' CODEC(ZSTD(1)),
    `executed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was executed, by the exchange' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1,
    INDEX assets asset TYPE set(16) GRANULARITY 1,
    INDEX markets market TYPE set(16) GRANULARITY 1,
    INDEX ids trade_record_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
-- By market too, so that views read the trades of a few: the exchange lists trades by market, so a record has one. Not by asset: a
-- record that is sent again with the other asset of its market counts once.
ORDER BY (account, market, trade_record_id)
SETTINGS {log_settings}, index_granularity = 1024
COMMENT 'Sides of fills of the configured accounts, from their trade history. Read them through the view trades (part 4.4)';

CREATE TABLE IF NOT EXISTS {database}.transaction_records
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response. Of several observations the latest counts' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `transaction_id` String COMMENT 'Transaction ID' CODEC(ZSTD(1)),
    `user_id` LowCardinality(String) COMMENT 'User ID; empty when absent' CODEC(ZSTD(1)),
    `asset` LowCardinality(String) COMMENT 'Asset ID: of the coin, or for PAYOUT of the outcome asset that paid; empty when absent' CODEC(ZSTD(1)),
    `type` LowCardinality(String) COMMENT 'Type, such as DEPOSIT, WITHDRAWAL or PAYOUT; empty when absent' CODEC(ZSTD(1)),
    `status` LowCardinality(String) COMMENT 'Status when it was received, such as COMPLETED; empty when absent' CODEC(ZSTD(1)),
    `amount` Decimal(38, 12) COMMENT 'Amount, USDC' CODEC(ZSTD(1)),
    `fee` Nullable(Decimal(38, 12)) COMMENT 'Fee, USDC' CODEC(ZSTD(1)),
    `created_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was created, by the exchange' CODEC(ZSTD(1)),
    `event_question` Nullable(String) COMMENT 'Question of the event of a payout' CODEC(ZSTD(1)),
    `event_slug` Nullable(String) COMMENT 'Short name of the event in addresses' CODEC(ZSTD(1)),
    `event_icon_url` Nullable(String) COMMENT 'Address of its icon' CODEC(ZSTD(1)),
    `outcome_name` Nullable(String) COMMENT 'Name of the market' CODEC(ZSTD(1)),
    `token_name` Nullable(String) COMMENT 'Name of the asset, such as YES' CODEC(ZSTD(1)),
    `is_primary` Nullable(Bool) COMMENT 'Whether it is the YES asset' CODEC(ZSTD(1)),
    `external_transaction_id` Nullable(String) COMMENT 'ID outside of the exchange, such as on a blockchain' CODEC(ZSTD(1)),
    `withdrawal_address` Nullable(String) COMMENT 'Where a withdrawal went' CODEC(ZSTD(1)),
    `blockchain_url` Nullable(String) COMMENT 'Address of the transaction on the blockchain' CODEC(ZSTD(1)),
    `blockchain_name` Nullable(String) COMMENT 'Name of the blockchain' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
ORDER BY (account, transaction_id)
SETTINGS {log_settings}
COMMENT 'Movements of money of the configured accounts, for which a JWT is required. Read them through the view transactions (part 4.3)';

CREATE TABLE IF NOT EXISTS {database}.activity_records
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response. Of several observations the latest counts' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Always empty: the feed covers all users' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `trade_record_id` String COMMENT 'ID of the side of the fill in the feed' CODEC(ZSTD(1)),
    `user_id` String COMMENT 'User ID; empty when absent' CODEC(ZSTD(1)),
    `username` Nullable(String) COMMENT 'Name of the user, or its HMAC-SHA-256 (64 hexadecimal digits) where --username-key is set' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID); empty when absent' CODEC(ZSTD(1)),
    `outcome_name` Nullable(String) COMMENT 'Name of the market' CODEC(ZSTD(1)),
    `position` LowCardinality(String) COMMENT 'Direction of the position, such as YES or NO; empty when absent' CODEC(ZSTD(1)),
    `side` LowCardinality(String) COMMENT 'BUY or SELL; empty when absent' CODEC(ZSTD(1)),
    `quantity` Decimal(38, 12) COMMENT 'Shares' CODEC(ZSTD(1)),
    `price` Decimal(38, 12) COMMENT 'USDC per share' CODEC(ZSTD(1)),
    `executed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was executed, by the exchange' CODEC(ZSTD(1)),
    `event_question` Nullable(String) COMMENT 'Question of the event' CODEC(ZSTD(1)),
    `event_slug` LowCardinality(String) COMMENT 'Short name of the event in addresses; empty when absent' CODEC(ZSTD(1)),
    `event_icon_url` Nullable(String) COMMENT 'Address of its icon' CODEC(ZSTD(1)),
    `token_name` LowCardinality(String) COMMENT 'Name of the asset, such as YES; empty when absent' CODEC(ZSTD(1)),
    `is_primary` Nullable(Bool) COMMENT 'Whether it is the YES asset' CODEC(ZSTD(1)),
    `event_volume` Nullable(Decimal(38, 12)) COMMENT 'Volume of the event when the item was last received, USDC, by the exchange' CODEC(ZSTD(1)),
    `user_volume` Nullable(Decimal(38, 12)) COMMENT 'Volume of the user when the item was last received, USDC, by the exchange' CODEC(ZSTD(1)),
    `executed_day` Date DEFAULT toDate(ifNull(executed_at, toDateTime64(0, 6, 'UTC'))) COMMENT 'UTC day of executed_at; 1970-01-01 when it is NULL' CODEC(ZSTD(1)),
    INDEX times executed_at TYPE minmax GRANULARITY 1,
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1,
    INDEX ids trade_record_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
ORDER BY (executed_day, market, trade_record_id)
SETTINGS {log_settings}
COMMENT 'Trades of all users, from the activity feed: one item per fill. Read them through the view activity (part 4.4)';

-- Every observed state of an order, filled by each observation; repeated rows change nothing.
CREATE TABLE IF NOT EXISTS {database}.order_states
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `order_id` String COMMENT 'Order ID',
    `status` LowCardinality(String) COMMENT 'Status; empty when absent',
    `filled_quantity` Decimal(38, 12) COMMENT 'Shares that were filled; -1 when absent',
    `first_seen_at` SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'When the order was first seen in this state',
    `last_seen_at` SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'When the order was last seen in this state'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY (account, order_id, status, filled_quantity)
SETTINGS {view_settings}
COMMENT 'Every state of an order in the order history. Read them through the view order_changes';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.order_states_of_records TO {database}.order_states AS
SELECT
    account,
    order_id,
    status,
    ifNull(order_records.filled_quantity, toDecimal128(-1, 12)) AS filled_quantity,
    min(received_at) AS first_seen_at,
    max(received_at) AS last_seen_at
FROM {database}.order_records
GROUP BY account, order_id, status, filled_quantity;
