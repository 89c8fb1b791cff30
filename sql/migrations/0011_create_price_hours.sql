-- The prices of an hour, so that questions about days do not read every tick.
--
-- A block is 65,536 consecutive offsets of a partition. When all of its offsets are committed, the worker that owns the partition
-- aggregates its ticks into price_hours, and then publishes the ID of that in price_blocks. Rows whose ID is not published are
-- ignored: a worker may have died in between, or two may have done the same. The views add the ticks of blocks without an ID
-- from price_ticks, so they are exact at any moment.
--
-- A partition of price_hours is a week, because its granules have all hours of a market in a partition: questions about the last days
-- read no older ones.
--
-- When price_hours holds all blocks of a group of 16, the worker aggregates them once more, into price_days: blocks are shorter than days,
-- so price_hours has many rows of the same day. The ID of that is published in the same way, and periods of whole days are read from
-- price_days and, where that does not hold a block, from price_hours.
CREATE TABLE IF NOT EXISTS {database}.price_hours
(
    `event` LowCardinality(String) COMMENT 'Event ID' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID' CODEC(ZSTD(1)),
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the hour' CODEC(Delta, ZSTD(1)),
    `rollup_id` UInt64 COMMENT 'ID of the aggregation of one block; it counts if price_blocks has it' CODEC(ZSTD(1)),
    `open` Float64 COMMENT 'First price of the last trade, in YES terms' CODEC(ZSTD(1)),
    `high` Float64 COMMENT 'Highest price of the last trade, in YES terms' CODEC(ZSTD(1)),
    `low` Float64 COMMENT 'Lowest price of the last trade, in YES terms' CODEC(ZSTD(1)),
    `close` Float64 COMMENT 'Last price of the last trade, in YES terms' CODEC(ZSTD(1)),
    `closing_bid` Nullable(Float64) COMMENT 'Best bid of the last tick, in YES terms; NULL when there is no bid' CODEC(ZSTD(1)),
    `closing_ask` Nullable(Float64) COMMENT 'Best ask of the last tick, in YES terms; NULL when there is no ask' CODEC(ZSTD(1)),
    `first_tick` UInt128 COMMENT 'The first tick: its received_at in Unix microseconds × 2^64 + _offset × 2^24 + _index, a number with the order of ticks' CODEC(ZSTD(1)),
    `last_tick` UInt128 COMMENT 'The last tick, like first_tick' CODEC(ZSTD(1)),
    `mid_open` Nullable(Float64) COMMENT 'First mid of bid and ask, in YES terms; NULL when no tick has both sides' CODEC(ZSTD(1)),
    `mid_high` Nullable(Float64) COMMENT 'Highest mid, in YES terms' CODEC(ZSTD(1)),
    `mid_low` Nullable(Float64) COMMENT 'Lowest mid, in YES terms' CODEC(ZSTD(1)),
    `mid_close` Nullable(Float64) COMMENT 'Last mid, in YES terms' CODEC(ZSTD(1)),
    `first_mid_tick` UInt128 COMMENT 'The first tick with a mid, like first_tick; 0 when there is none' CODEC(ZSTD(1)),
    `last_mid_tick` UInt128 COMMENT 'The last tick with a mid, like first_tick; 0 when there is none' CODEC(ZSTD(1)),
    `ticks` UInt64 COMMENT 'Rows of price_ticks that are neither repeated nor a resolution' CODEC(T64, ZSTD(1)),
    INDEX events event TYPE set(16) GRANULARITY 8
)
ENGINE = {engine:MergeTree}
PARTITION BY toMonday(begins_at)
ORDER BY (market, begins_at, rollup_id)
SETTINGS {view_settings}, index_granularity = 1024
COMMENT 'Prices of a market in an hour, one row per block of the log. Read them through the view candles';

CREATE TABLE IF NOT EXISTS {database}.price_days
(
    `event` LowCardinality(String) COMMENT 'Event ID' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID' CODEC(ZSTD(1)),
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the day, UTC' CODEC(Delta, ZSTD(1)),
    `rollup_id` UInt64 COMMENT 'ID of the aggregation of one group of blocks; it counts if price_blocks has it as days_id' CODEC(ZSTD(1)),
    `open` Float64 COMMENT 'First price of the last trade, in YES terms' CODEC(ZSTD(1)),
    `high` Float64 COMMENT 'Highest price of the last trade, in YES terms' CODEC(ZSTD(1)),
    `low` Float64 COMMENT 'Lowest price of the last trade, in YES terms' CODEC(ZSTD(1)),
    `close` Float64 COMMENT 'Last price of the last trade, in YES terms' CODEC(ZSTD(1)),
    `closing_bid` Nullable(Float64) COMMENT 'Best bid of the last tick, in YES terms; NULL when there is no bid' CODEC(ZSTD(1)),
    `closing_ask` Nullable(Float64) COMMENT 'Best ask of the last tick, in YES terms; NULL when there is no ask' CODEC(ZSTD(1)),
    `first_tick` UInt128 COMMENT 'The first tick: its received_at in Unix microseconds × 2^64 + _offset × 2^24 + _index, a number with the order of ticks' CODEC(ZSTD(1)),
    `last_tick` UInt128 COMMENT 'The last tick, like first_tick' CODEC(ZSTD(1)),
    `mid_open` Nullable(Float64) COMMENT 'First mid of bid and ask, in YES terms; NULL when no tick has both sides' CODEC(ZSTD(1)),
    `mid_high` Nullable(Float64) COMMENT 'Highest mid, in YES terms' CODEC(ZSTD(1)),
    `mid_low` Nullable(Float64) COMMENT 'Lowest mid, in YES terms' CODEC(ZSTD(1)),
    `mid_close` Nullable(Float64) COMMENT 'Last mid, in YES terms' CODEC(ZSTD(1)),
    `first_mid_tick` UInt128 COMMENT 'The first tick with a mid, like first_tick; 0 when there is none' CODEC(ZSTD(1)),
    `last_mid_tick` UInt128 COMMENT 'The last tick with a mid, like first_tick; 0 when there is none' CODEC(ZSTD(1)),
    `ticks` UInt64 COMMENT 'Rows of price_ticks that are neither repeated nor a resolution' CODEC(T64, ZSTD(1)),
    INDEX events event TYPE set(16) GRANULARITY 8
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(begins_at)
ORDER BY (market, begins_at, rollup_id)
SETTINGS {view_settings}, index_granularity = 1024
COMMENT 'Prices of a market on a day, one row per group of blocks of the log. Read them through the view candles';

CREATE TABLE IF NOT EXISTS {database}.price_blocks
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.order-book',
    `_partition` UInt32 COMMENT 'Partition of the topic',
    `block` UInt64 COMMENT 'Number of the block: the offset of its first record / 65536',
    `rollup_id` UInt64 COMMENT 'ID of the rows of price_hours that hold its ticks; 0 while price_hours does not hold them',
    `days_id` UInt64 COMMENT 'ID of the rows of price_days that hold its ticks; 0 while price_days does not hold them',
    `version` UInt64 COMMENT 'The row with the highest version counts'
)
ENGINE = {engine:ReplacingMergeTree(version)}
ORDER BY (_log, _partition, block)
SETTINGS {view_settings}
COMMENT 'Blocks of the log of the order book stream that have ticks, and whether price_hours and price_days hold them';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.price_blocks_of_ticks TO {database}.price_blocks AS
SELECT DISTINCT
    `_log`,
    `_partition`,
    bitShiftRight(`_offset`, 16) AS block,
    toUInt64(0) AS rollup_id,
    toUInt64(0) AS days_id,
    toUInt64(0) AS version
FROM {database}.price_ticks
WHERE {no_summary_follows};

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.price_blocks_of_ends TO {database}.price_blocks AS
SELECT DISTINCT
    `_log`,
    `_partition`,
    bitShiftRight(`_offset`, 16) AS block,
    toUInt64(0) AS rollup_id,
    toUInt64(0) AS days_id,
    toUInt64(0) AS version
FROM {database}.price_ends;
