-- Holdings and open orders of accounts, one row per entry and poll. The views positions, active_orders, balances and
-- tpsl_orders show the latest complete poll, position_changes and balance_changes the differences between complete polls.
-- Rows of one poll are stored together, and granules are small, because views look up a few polls by their ID.
CREATE TABLE IF NOT EXISTS {database}.position_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `asset` LowCardinality(String) COMMENT 'ID of the held asset' CODEC(ZSTD(1)),
    `order_id` String COMMENT 'ID of the order that opened it; empty when absent' CODEC(ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID; empty when absent' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID); empty when absent' CODEC(ZSTD(1)),
    `event_title` Nullable(String) COMMENT 'Title of the event' CODEC(ZSTD(1)),
    `event_slug` Nullable(String) COMMENT 'Short name of the event in addresses' CODEC(ZSTD(1)),
    `event_icon_url` Nullable(String) COMMENT 'Address of its icon' CODEC(ZSTD(1)),
    `event_image_url` Nullable(String) COMMENT 'Address of its image' CODEC(ZSTD(1)),
    `outcome_name` Nullable(String) COMMENT 'Name of the market' CODEC(ZSTD(1)),
    `token_name` Nullable(String) COMMENT 'Name of the asset, such as YES' CODEC(ZSTD(1)),
    `is_primary` Nullable(Bool) COMMENT 'Whether it is the YES asset' CODEC(ZSTD(1)),
    `shares` Decimal(38, 12) COMMENT 'Held shares' CODEC(ZSTD(1)),
    `available_shares` Nullable(Decimal(38, 12)) COMMENT 'Shares not locked by orders' CODEC(ZSTD(1)),
    `entry_price` Nullable(Float64) COMMENT 'Average cost of a share, USDC, as divided by the exchange' CODEC(ZSTD(1)),
    `cost` Nullable(Decimal(38, 12)) COMMENT 'Cost of the shares, USDC' CODEC(ZSTD(1)),
    `current_price` Nullable(Float64) COMMENT 'Current price of a share, USDC, by the exchange' CODEC(ZSTD(1)),
    `value` Nullable(Decimal(38, 12)) COMMENT 'Current value of the shares, USDC, by the exchange' CODEC(ZSTD(1)),
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'Unrealised profit or loss, USDC, by the exchange' CODEC(ZSTD(1)),
    `pnl_percent` Nullable(Float64) COMMENT 'The same in percent of the cost, by the exchange' CODEC(ZSTD(1)),
    `tpsl_orders` Array(String) COMMENT 'IDs of the take-profit/stop-loss orders attached to it' CODEC(ZSTD(1)),
    `opened_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was opened, by the exchange' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (account, poll_id, asset, `_offset`, `_index`)
SETTINGS {log_settings}, index_granularity = 1024
COMMENT 'Open positions of the configured accounts, one row per poll (part 4.4)';

CREATE TABLE IF NOT EXISTS {database}.active_order_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `order_id` String COMMENT 'Order ID' CODEC(ZSTD(1)),
    `status` LowCardinality(String) COMMENT 'Status, such as ACTIVE; empty when absent' CODEC(ZSTD(1)),
    `side` LowCardinality(String) COMMENT 'BUY or SELL; empty when absent' CODEC(ZSTD(1)),
    `price` Nullable(Decimal(38, 12)) COMMENT 'Limit, USDC per share' CODEC(ZSTD(1)),
    `quantity` Decimal(38, 12) COMMENT 'Remaining shares' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (account, poll_id, order_id, `_offset`, `_index`)
SETTINGS {log_settings}, index_granularity = 1024
COMMENT 'Orders of the configured accounts that are in the book, one row per poll (part 4.4)';

CREATE TABLE IF NOT EXISTS {database}.balance_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `asset` LowCardinality(String) COMMENT 'Asset ID: a coin, or an outcome asset' CODEC(ZSTD(1)),
    `balance` Decimal(38, 12) COMMENT 'Total including what orders lock: USDC or shares' CODEC(ZSTD(1)),
    `free` Nullable(Decimal(38, 12)) COMMENT 'Amount not locked by orders' CODEC(ZSTD(1)),
    `name` Nullable(String) COMMENT 'Name, if the exchange sends it' CODEC(ZSTD(1)),
    `ticker` Nullable(String) COMMENT 'Ticker, if the exchange sends it' CODEC(ZSTD(1)),
    `value` Nullable(Decimal(38, 12)) COMMENT 'Value in USDC, if the exchange sends it' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (account, poll_id, asset, `_offset`, `_index`)
SETTINGS {log_settings}, index_granularity = 1024
COMMENT 'Balances of the configured accounts, one row per poll (part 4.3)';

CREATE TABLE IF NOT EXISTS {database}.tpsl_order_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `tpsl_order_id` String COMMENT 'ID of the TP/SL order' CODEC(ZSTD(1)),
    `asset` LowCardinality(String) COMMENT 'ID of the asset that it would sell' CODEC(ZSTD(1)),
    `requested_status` LowCardinality(String) COMMENT 'Requested status; empty for all' CODEC(ZSTD(1)),
    `source` Enum8('list' = 1, 'position' = 2) COMMENT 'list: the TP/SL orders of an asset. position: attached to an open position' CODEC(ZSTD(1)),
    `quantity` Nullable(Decimal(38, 12)) COMMENT 'Shares that it would sell' CODEC(ZSTD(1)),
    `take_profit_price` Nullable(Decimal(38, 12)) COMMENT 'Price at or above which it sells; NULL when it has none' CODEC(ZSTD(1)),
    `stop_loss_price` Nullable(Decimal(38, 12)) COMMENT 'Price at or below which it sells; NULL when it has none' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (account, poll_id, asset, tpsl_order_id, `_offset`, `_index`)
SETTINGS {log_settings}, index_granularity = 1024
COMMENT 'Take-profit/stop-loss orders of the configured accounts, one row per poll (part 4.2)';

CREATE TABLE IF NOT EXISTS {database}.profile_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one response) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `user_id` String COMMENT 'User ID' CODEC(ZSTD(1)),
    `username` Nullable(String) COMMENT 'Name of the user, or its HMAC-SHA-256 (64 hexadecimal digits) where --username-key is set' CODEC(ZSTD(1)),
    `joined_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the user joined, by the exchange' CODEC(ZSTD(1)),
    `is_self` Nullable(Bool) COMMENT 'Whether the user is the polled account' CODEC(ZSTD(1)),
    `position_value` Nullable(Decimal(38, 12)) COMMENT 'Value of the open positions, USDC, by the exchange' CODEC(ZSTD(1)),
    `volume_traded` Nullable(Decimal(38, 12)) COMMENT 'Volume, USDC, by the exchange' CODEC(ZSTD(1)),
    `markets_traded` Nullable(Int64) COMMENT 'Number of markets traded, by the exchange' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (account, user_id, received_at, `_offset`, `_index`)
SETTINGS {log_settings}
COMMENT 'Profiles of users, one row per poll (part 4.4)';

CREATE TABLE IF NOT EXISTS {database}.position_stats_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one response) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `user_id` String COMMENT 'User ID; empty when the request did not have it' CODEC(ZSTD(1)),
    `tab` LowCardinality(String) COMMENT 'Selected tab: active or closed; empty when absent' CODEC(ZSTD(1)),
    `total_items` Nullable(Int64) COMMENT 'Number of positions' CODEC(ZSTD(1)),
    `opened_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the oldest open position was opened, by the exchange' CODEC(ZSTD(1)),
    `closed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the last one was closed, by the exchange' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (account, user_id, received_at, `_offset`, `_index`)
SETTINGS {log_settings}
COMMENT 'Statistics of the positions of users, one row per poll (part 4.4)';

CREATE TABLE IF NOT EXISTS {database}.account_pages
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: the order of the list' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `account` LowCardinality(String) COMMENT 'Configured name of the account' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, whose receipt is in polls' CODEC(ZSTD(1)),
    `page` UInt32 COMMENT 'Number of the page in its poll, from 0' CODEC(ZSTD(1)),
    `operation` LowCardinality(String) COMMENT 'Name of the operation, as in polls' CODEC(ZSTD(1)),
    `asset` LowCardinality(String) COMMENT 'Requested asset; empty for other lists' CODEC(ZSTD(1)),
    `items` UInt32 COMMENT 'Records on the page' CODEC(ZSTD(1)),
    `rejected_items` UInt32 COMMENT 'Entries on the page that became dead letters' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (account, operation, poll_id, page, `_offset`)
SETTINGS {log_settings}, index_granularity = 256
COMMENT 'Every decoded page of the lists of an account, also of empty ones. They show whether all pages of a poll are stored';

CREATE TABLE IF NOT EXISTS {database}.account_lists
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `operation` LowCardinality(String) COMMENT 'Name of an operation of which a page was stored'
)
ENGINE = {engine:ReplacingMergeTree}
ORDER BY (account, operation)
SETTINGS {view_settings}
COMMENT 'The lists of every account that could be read, at least once';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.account_lists_of_pages TO {database}.account_lists AS
SELECT DISTINCT account, operation
FROM {database}.account_pages;
