-- The polled lists. An entry that is listed again in the same state, by the same collector session in the same hour of UTC, has
-- two rows: the first listing and the last one, which replaces those in between when parts are merged. So a table grows with
-- changes and hours, not with polls. Queries need no FINAL: a listing that is not replaced yet repeats the state of the first.
-- The views event_changes, market_changes and so on show only the changes, the views events, markets and so on the current state.
CREATE TABLE IF NOT EXISTS {database}.event_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.reference, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the page' CODEC(Delta, ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, which reads all pages' CODEC(ZSTD(1)),
    `unchanged_from` DateTime64(6, 'UTC') DEFAULT received_at COMMENT 'When the collector session first listed it in this state and this hour: received_at of the first listing' CODEC(Delta, ZSTD(1)),
    `entry` UInt32 DEFAULT 1 COMMENT 'Number of the entry in its response, from 1, for the first listing in this state; 0 for the last one' CODEC(ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID' CODEC(ZSTD(1)),
    `title` Nullable(String) COMMENT 'Title of the event' CODEC(ZSTD(1)),
    `slug` Nullable(String) COMMENT 'Short name in addresses, if the exchange sends one' CODEC(ZSTD(1)),
    `category` Nullable(String) COMMENT 'Category (slug or name, as the exchange sends it), if it sends one' CODEC(ZSTD(1)),
    `tags` Array(String) COMMENT 'Names of the tags' CODEC(ZSTD(1)),
    `created_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the event was opened, by the exchange' CODEC(ZSTD(1)),
    `closes_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When trading is planned to end, by the exchange' CODEC(ZSTD(1)),
    `markets` Array(String) COMMENT 'Market IDs of the event, in the order shown' CODEC(ZSTD(1)),
    `volume_24h` Nullable(Float64) COMMENT 'Volume of the last 24 hours in USDC, by the exchange' CODEC(ZSTD(1)),
    `total_volume` Nullable(Float64) COMMENT 'Volume since the event was opened in USDC, by the exchange' CODEC(ZSTD(1)),
    `liquidity` Nullable(Float64) COMMENT 'Liquidity in USDC, by the exchange' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
PARTITION BY toYYYYMM(received_at)
ORDER BY (event, unchanged_from, entry)
SETTINGS {log_settings}
COMMENT 'Events in pages of event search, the first and the last listing of each state and hour (part 4.5)';

CREATE TABLE IF NOT EXISTS {database}.market_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.reference, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one page) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the page' CODEC(Delta, ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, which reads all pages' CODEC(ZSTD(1)),
    `unchanged_from` DateTime64(6, 'UTC') DEFAULT received_at COMMENT 'When the collector session first listed it in this state and this hour: received_at of the first listing' CODEC(Delta, ZSTD(1)),
    `entry` UInt32 DEFAULT 1 COMMENT 'Number of the entry in its response, from 1, for the first listing in this state; 0 for the last one' CODEC(ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID)' CODEC(ZSTD(1)),
    `name` Nullable(String) COMMENT 'Name of the market, if the exchange sends one' CODEC(ZSTD(1)),
    `yes_asset` Nullable(String) COMMENT 'ID of the YES asset' CODEC(ZSTD(1)),
    `no_asset` Nullable(String) COMMENT 'ID of the NO asset' CODEC(ZSTD(1)),
    `yes_price` Nullable(Float64) COMMENT 'Price of the YES asset in event search, 0 to 1' CODEC(ZSTD(1)),
    `no_price` Nullable(Float64) COMMENT 'Price of the NO asset in event search, 0 to 1' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
PARTITION BY toYYYYMM(received_at)
ORDER BY (market, unchanged_from, entry)
SETTINGS {log_settings}
COMMENT 'Markets in pages of event search, the first and the last listing of each state and hour (part 4.5)';

CREATE TABLE IF NOT EXISTS {database}.category_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.reference, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one response) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0: parents before their children' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll' CODEC(ZSTD(1)),
    `unchanged_from` DateTime64(6, 'UTC') DEFAULT received_at COMMENT 'When the collector session first listed it in this state and this hour: received_at of the first listing' CODEC(Delta, ZSTD(1)),
    `entry` UInt32 DEFAULT 1 COMMENT 'Number of the entry in its response, from 1, for the first listing in this state; 0 for the last one' CODEC(ZSTD(1)),
    `category` LowCardinality(String) COMMENT 'Category ID' CODEC(ZSTD(1)),
    `name` Nullable(String) COMMENT 'Name' CODEC(ZSTD(1)),
    `slug` Nullable(String) COMMENT 'Short name that event search filters by' CODEC(ZSTD(1)),
    `parent` Nullable(String) COMMENT 'Category ID of the parent, NULL at the top of the tree' CODEC(ZSTD(1)),
    `depth` UInt16 COMMENT '0 at the top of the tree' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
PARTITION BY toYYYYMM(received_at)
ORDER BY (category, unchanged_from, entry)
SETTINGS {log_settings}
COMMENT 'Categories in the category tree, the first and the last listing of each state and hour (part 4.5)';

CREATE TABLE IF NOT EXISTS {database}.tag_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.reference, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one response) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll' CODEC(ZSTD(1)),
    `unchanged_from` DateTime64(6, 'UTC') DEFAULT received_at COMMENT 'When the collector session first listed it in this state and this hour: received_at of the first listing' CODEC(Delta, ZSTD(1)),
    `entry` UInt32 DEFAULT 1 COMMENT 'Number of the entry in its response, from 1, for the first listing in this state; 0 for the last one' CODEC(ZSTD(1)),
    `tag` LowCardinality(String) COMMENT 'Name of the tag' CODEC(ZSTD(1)),
    `popularity_rank` Nullable(Int64) COMMENT 'Popularity rank, by the exchange' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
PARTITION BY toYYYYMM(received_at)
ORDER BY (tag, unchanged_from, entry)
SETTINGS {log_settings}
COMMENT 'Popular tags, the first and the last listing of each state and hour (part 4.5)';

CREATE TABLE IF NOT EXISTS {database}.coin_observations
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.reference, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one response) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response' CODEC(Delta, ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll' CODEC(ZSTD(1)),
    `unchanged_from` DateTime64(6, 'UTC') DEFAULT received_at COMMENT 'When the collector session first listed it in this state and this hour: received_at of the first listing' CODEC(Delta, ZSTD(1)),
    `entry` UInt32 DEFAULT 1 COMMENT 'Number of the entry in its response, from 1, for the first listing in this state; 0 for the last one' CODEC(ZSTD(1)),
    `coin` LowCardinality(String) COMMENT 'Coin ID' CODEC(ZSTD(1)),
    `name` Nullable(String) COMMENT 'Full name' CODEC(ZSTD(1)),
    `ticker` Nullable(String) COMMENT 'Ticker' CODEC(ZSTD(1)),
    `usd_rate` Nullable(Float64) COMMENT 'USD for one coin' CODEC(ZSTD(1)),
    `usd_rate_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the rate was updated, by the exchange' CODEC(ZSTD(1)),
    `full_decimals` Nullable(Int64) COMMENT 'Decimals at full precision' CODEC(ZSTD(1)),
    `display_decimals` Nullable(Int64) COMMENT 'Decimals for short display' CODEC(ZSTD(1)),
    `status` Nullable(String) COMMENT 'Status, such as ACTIVE' CODEC(ZSTD(1)),
    `icon_url` Nullable(String) COMMENT 'Address of the icon' CODEC(ZSTD(1)),
    `system_coin` Nullable(Bool) COMMENT 'Whether it is a system coin' CODEC(ZSTD(1)),
    `collateral` Nullable(Bool) COMMENT 'Whether it may be used as prediction-market collateral' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
PARTITION BY toYYYYMM(received_at)
ORDER BY (coin, unchanged_from, entry)
SETTINGS {log_settings}
COMMENT 'Coins in the coins list, the first and the last listing of each state and hour (part 4.3)';
