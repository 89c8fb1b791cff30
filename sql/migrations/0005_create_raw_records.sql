-- Every record of every topic exactly as received, and dead letters: what could not be decoded.
CREATE TABLE IF NOT EXISTS {database}.raw_records
(
    `_topic` LowCardinality(String) COMMENT 'Topic' CODEC(ZSTD(1)),
    `_log` LowCardinality(String) COMMENT 'ID of the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record in its partition' CODEC(DoubleDelta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Always 0: a record has one row here' CODEC(ZSTD(1)),
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received it' CODEC(Delta, ZSTD(1)),
    `session_id` LowCardinality(String) COMMENT 'Session: UUID of one run of a collector' CODEC(ZSTD(1)),
    `sequence` UInt64 COMMENT 'Number of the record in its session and topic, from 1' CODEC(Delta, ZSTD(1)),
    `kind` LowCardinality(String) COMMENT 'Record kind, such as order-book.frame' CODEC(ZSTD(1)),
    `encoding` LowCardinality(String) COMMENT 'How body represents the payload: json (verbatim), text (not JSON, verbatim) or base64 (not UTF-8). A piece of a body is a JSON string of a part of that' CODEC(ZSTD(1)),
    `piece` UInt16 COMMENT 'Number of the piece, from 0, of a body that was too large for one record' CODEC(ZSTD(1)),
    `pieces` UInt16 COMMENT 'Number of pieces of the body; 1 when it is not split' CODEC(ZSTD(1)),
    `body_bytes` UInt32 COMMENT 'Length of the body in bytes, also when it is not stored' CODEC(ZSTD(1)),
    `body_expires_at` DateTime('UTC') COMMENT 'When request and body are deleted; a record without them was written with bodies off' CODEC(DoubleDelta, ZSTD(1)),
    `request` String COMMENT 'The request, JSON' CODEC(ZSTD(1)) TTL body_expires_at,
    `body` String COMMENT 'The payload' CODEC(ZSTD(1)) TTL body_expires_at,
    `written_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When the row was written, by the clock of ClickHouse' CODEC(DoubleDelta, ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1,
    INDEX times received_at TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(received_at)
ORDER BY (`_topic`, `_log`, `_partition`, `_offset`)
SETTINGS {log_settings}
COMMENT 'Every record of the bus: its envelope permanently, its body for a configured time. All other tables can be rebuilt from it as far back as bodies are stored';

CREATE TABLE IF NOT EXISTS {database}.dead_letters
(
    `_topic` LowCardinality(String) COMMENT 'Topic' CODEC(ZSTD(1)),
    `_log` LowCardinality(String) COMMENT 'ID of the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(ZSTD(1)),
    `received_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the collector received the record; NULL when its envelope could not be read' CODEC(ZSTD(1)),
    `kind` LowCardinality(String) COMMENT 'Record kind; empty when the envelope could not be read' CODEC(ZSTD(1)),
    `session_id` LowCardinality(String) COMMENT 'Session; empty when the envelope could not be read' CODEC(ZSTD(1)),
    `sequence` Nullable(UInt64) COMMENT 'Number of the record in its session and topic; NULL when the envelope could not be read' CODEC(ZSTD(1)),
    `connection_id` LowCardinality(String) COMMENT 'UUID of the WebSocket connection of a frame; empty for other records, and when the envelope could not be read' CODEC(ZSTD(1)),
    `json_path` String COMMENT 'Path of the invalid value in the record, such as d[3].b; empty for the whole record' CODEC(ZSTD(1)),
    `reason` String COMMENT 'What is invalid' CODEC(ZSTD(1)),
    `payload` String COMMENT 'The payload, truncated to 4096 characters; empty after the first 1000 of one reason in a batch' CODEC(ZSTD(3)),
    `payload_length` UInt64 COMMENT 'Length of the whole payload' CODEC(ZSTD(1)),
    `written_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When the row was written, by the clock of ClickHouse' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
ORDER BY (`_topic`, `_log`, `_partition`, `_offset`, `_index`)
SETTINGS {log_settings}
COMMENT 'Payloads that could not be decoded, with reason and JSON path. Of a frame with one invalid entry, that entry is here and the others are in their tables';

CREATE TABLE IF NOT EXISTS {database}.lost_ranges
(
    `_topic` LowCardinality(String) COMMENT 'Topic' CODEC(ZSTD(1)),
    `_log` LowCardinality(String) COMMENT 'ID of the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the last lost record' CODEC(ZSTD(1)),
    `_index` UInt32 COMMENT 'Always 0' CODEC(ZSTD(1)),
    `first_offset` UInt64 COMMENT 'Offset of the first lost record' CODEC(ZSTD(1)),
    `last_offset` UInt64 COMMENT 'Offset of the last lost record' CODEC(ZSTD(1)),
    `cause` String COMMENT 'Why they were lost' CODEC(ZSTD(1)),
    `partitions` UInt32 COMMENT 'Number of partitions of the topic' CODEC(ZSTD(1)),
    `begins_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Receive time of the first lost record, or of the record before it; NULL when neither is known' CODEC(ZSTD(1)),
    `ends_at` DateTime64(6, 'UTC') COMMENT 'End of their receive times: that of the last lost record or of the record after it; when the row was made if neither is known' CODEC(ZSTD(1)),
    `written_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When the row was written, by the clock of ClickHouse' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
ORDER BY (`_topic`, `_log`, `_partition`, `_offset`)
SETTINGS {log_settings}
COMMENT 'Records that were lost before they had rows, or with their rows: their loss was accepted with --accept-loss, or found by --rebuild';
