-- Probabilities: live points of the chance stream, and points fetched from history. They are stored in separate tables:
-- history fills gaps and never overwrites live points.
CREATE TABLE IF NOT EXISTS {database}.chance_points
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.chance, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one frame) in its partition' CODEC(Delta, ZSTD(3)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(T64, ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the frame' CODEC(Delta, ZSTD(3)),
    `occurred_at` DateTime64(6, 'UTC') COMMENT 'Time of the point by the exchange, which counts in whole seconds' CODEC(Delta, ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID; empty when the message has the market only' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID)' CODEC(ZSTD(1)),
    `chance` Float64 COMMENT 'Probability of YES, 0 to 1, exactly the JSON number' CODEC(ZSTD(1)),
    `source` Enum8('last-known' = 1, 'change' = 2, 'aggregate' = 3) COMMENT 'last-known: the response to SUBSCRIBE. change: a live change. aggregate: UPDATE_HISTORY, a new point of history' CODEC(ZSTD(1)),
    `repeated` Bool COMMENT 'Whether it is a change with the time and chance of the previous one of its market from the same connection, and so is no change: chance_series leaves it out' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 8,
    INDEX events event TYPE set(16) GRANULARITY 8
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (market, occurred_at, received_at, `_offset`, `_index`)
SETTINGS {log_settings}, index_granularity = 1024
COMMENT 'Live probabilities of a market from the chance stream (part 6.2)';

CREATE TABLE IF NOT EXISTS {database}.chance_history_points
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.chance, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one response) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(Delta, ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received the response. If two responses contain the same point, the later one counts' CODEC(Delta, ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID; empty when the message has the market only' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID)' CODEC(ZSTD(1)),
    `period` LowCardinality(String) COMMENT 'Requested period code (1s, 5M, 1H, 1d, ...). raw: none. Empty: not known' CODEC(ZSTD(1)),
    `occurred_at` DateTime64(6, 'UTC') COMMENT 'Time of the point by the exchange; for a period, its end' CODEC(Delta, ZSTD(1)),
    `chance` Float64 COMMENT 'Probability of YES, 0 to 1; for a period, the last one in it' CODEC(ZSTD(1)),
    `source` Enum8('rest' = 1, 'stream' = 2) COMMENT 'rest: GET .../history. stream: HISTORY_RESPONSE' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(received_at)}
ORDER BY (market, event, period, occurred_at)
SETTINGS {log_settings}
COMMENT 'Points of chance history, fetched at start, after a reconnect, on schedule and after close. Read with FINAL. Anchors and flat lines of responses are not points and are excluded (parts 4.5 and 6.2)';
