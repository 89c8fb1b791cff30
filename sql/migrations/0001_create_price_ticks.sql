-- Prices of the order book stream, one row per market and frame.
--
-- The index `positions` finds the ticks that price_hours does not hold yet, `prices` those of resolutions (`last IN (0, 1)`: a condition
-- on is_resolution does not use it). The indexes `events` and `prices` are built by merges only: `events` would slow inserts by a tenth.
-- Without ClickHouse's automatic statistics of columns, which slow inserts and merges: the partition, the primary key and these indexes
-- find the rows.
--
-- Codecs and precision were chosen by measuring (bench/storage.ts): sorted by market, neighbouring rows are similar. Prices
-- have few different values, so they are dictionary-encoded. Only the milliseconds of the receive time are significant; its
-- microseconds would take as much space as all prices together.
CREATE TABLE IF NOT EXISTS {database}.price_ticks
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.order-book, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one frame) in its partition' CODEC(Delta, ZSTD(3)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(T64, ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the frame, truncated to whole milliseconds (raw_records has the microseconds). The stream has no exchange time' CODEC(GCD, Delta, ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID)' CODEC(ZSTD(1)),
    `last` LowCardinality(Float64) COMMENT 'Price of the last trade in YES terms, 0 to 1, exactly the JSON number' CODEC(ZSTD(5)),
    `bid` LowCardinality(Nullable(Float64)) COMMENT 'Best bid in YES terms. NULL when there is no bid: the stream sends 0 (or 1), which is not a valid order price' CODEC(ZSTD(5)),
    `ask` LowCardinality(Nullable(Float64)) COMMENT 'Best ask in YES terms. NULL when there is no ask: the stream sends 1 (or 0), which is not a valid order price' CODEC(ZSTD(5)),
    `source` Enum8('snapshot' = 1, 'delta' = 2) COMMENT 'snapshot: PRICES_DATA, the state of every market of the event. delta: PRICES_DATA_DELTA, a change' CODEC(ZSTD(1)),
    `repeated` Bool COMMENT 'Whether it is a delta that equals the previous row of its market from the same connection, and so is no change: ticks, candles and statistics leave it out' CODEC(ZSTD(1)),
    `is_resolution` Bool ALIAS last IN (0, 1) COMMENT 'Whether the last price is exactly 0 or 1: no order can be priced so, the market was resolved. No trade: candles, movers and spread statistics leave it out',
    INDEX positions (`_partition`, `_offset`) TYPE minmax GRANULARITY 1,
    INDEX events event TYPE set(16) GRANULARITY 1,
    INDEX prices last TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (market, received_at, `_offset`, `_index`)
SETTINGS {log_settings}, allow_suspicious_low_cardinality_types = 1, auto_statistics_types = ''
COMMENT 'Last price, best bid and best ask of a market, one row per message of the order book stream. Rows of one market are in order of received_at, then _offset and _index (part 6.1)';

-- The first and the last tick of every market in a large batch: all that the materialized views of price_ticks need, which would otherwise
-- aggregate each of its rows.
CREATE TABLE IF NOT EXISTS {database}.price_ends
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.order-book',
    `_partition` UInt32 COMMENT 'Partition of the topic',
    `_offset` UInt64 COMMENT 'Offset of the record of the last tick',
    `_index` UInt32 COMMENT 'Number of the last tick within its record, from 0',
    `first_received_at` DateTime64(6, 'UTC') COMMENT 'Earliest receive time of a tick',
    `received_at` DateTime64(6, 'UTC') COMMENT 'Receive time of the last tick',
    `event` LowCardinality(String) COMMENT 'Event ID of the last tick',
    `market` LowCardinality(String) COMMENT 'Market ID',
    `last` Float64 COMMENT 'Price of the last trade of the last tick, in YES terms',
    `bid` Nullable(Float64) COMMENT 'Best bid of the last tick, in YES terms; NULL when there is no bid',
    `ask` Nullable(Float64) COMMENT 'Best ask of the last tick, in YES terms; NULL when there is no ask'
)
ENGINE = Null
COMMENT 'What a large batch of price_ticks changes in price_states and price_blocks. It stores nothing: its rows go to their materialized views';
