-- What the order book stream said about prices, one row per market and frame.
--
-- Codecs and precision are chosen by measuring (bench/storage.ts): sorted by market, neighbouring rows are alike. Prices
-- are of few different values, so they are kept by number; of a receive time only the milliseconds mean something, and
-- the microseconds would take as much room as all prices together.
CREATE TABLE IF NOT EXISTS {database}.price_ticks
(
    `_log` LowCardinality(String) COMMENT 'Identity of the log of topic chancery.order-book that the record came from' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one frame) in its partition' CODEC(Delta, ZSTD(3)),
    `_index` UInt32 COMMENT 'Number of the row inside its record, from 0' CODEC(T64, ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the frame, cut to whole milliseconds (raw_records has the microseconds). The stream carries no time of the exchange' CODEC(GCD, Delta, ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID)' CODEC(ZSTD(1)),
    `last` LowCardinality(Float64) COMMENT 'Price of the last trade in YES terms, 0 to 1, exactly as the JSON number said' CODEC(ZSTD(5)),
    `bid` LowCardinality(Nullable(Float64)) COMMENT 'Best bid in YES terms. NULL when nobody bids: the stream says 0 (or 1), which no order can be priced at' CODEC(ZSTD(5)),
    `ask` LowCardinality(Nullable(Float64)) COMMENT 'Best ask in YES terms. NULL when nobody asks: the stream says 1 (or 0), which no order can be priced at' CODEC(ZSTD(5)),
    `source` Enum8('snapshot' = 1, 'delta' = 2) COMMENT 'snapshot: PRICES_DATA, the state of every market of the event. delta: PRICES_DATA_DELTA, a change' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (market, received_at, `_offset`, `_index`)
SETTINGS {log_settings}, allow_suspicious_low_cardinality_types = 1
COMMENT 'Last price, best bid and best ask of a market each time that the order book stream said them. Rows of one market are in order of received_at, then _offset and _index';
