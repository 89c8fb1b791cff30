-- What collectors report about their own connections and polls. Coverage, gaps and completeness are computed from these
-- rows alone.
CREATE TABLE IF NOT EXISTS {database}.collector_events
(
    `_log` LowCardinality(String) COMMENT 'Log identity of topic chancery.collector-events of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one collector event) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row inside its record, from 0' CODEC(ZSTD(1)),
    `recorded_at` DateTime64(6, 'UTC') COMMENT 'The time that the event refers to, by the clock of the collector' CODEC(Delta, ZSTD(1)),
    `session_id` LowCardinality(String) COMMENT 'Session: UUID of one run of a collector' CODEC(ZSTD(1)),
    `sequence` UInt64 COMMENT 'Sequence number of the collector event in its session, from 1' CODEC(Delta, ZSTD(1)),
    `type` LowCardinality(String) COMMENT 'session-started, heartbeat, session-stopped, connected, disconnected, subscribed, unsubscribed, stale, verified or backfilled' CODEC(ZSTD(1)),
    `stream` LowCardinality(String) COMMENT 'order-book, chance, orders or balance; empty for events of the session' CODEC(ZSTD(1)),
    `connection_id` LowCardinality(String) COMMENT 'UUID of the WebSocket connection' CODEC(ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID of the subscription' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'backfilled: market ID' CODEC(ZSTD(1)),
    `markets` Array(String) COMMENT 'subscribed: market IDs' CODEC(ZSTD(1)),
    `last_verified_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'stale: until when the subscription was known to be current' CODEC(ZSTD(1)),
    `range_from` Nullable(DateTime64(6, 'UTC')) COMMENT 'backfilled: start of the range that history was fetched for' CODEC(ZSTD(1)),
    `range_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'backfilled: end of the range that history was fetched for' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'backfilled: UUID of the poll' CODEC(ZSTD(1)),
    `acknowledged` Map(LowCardinality(String), UInt64) COMMENT 'heartbeat: last sequence number per topic that is durable on the bus' CODEC(ZSTD(1)),
    `collector` LowCardinality(String) COMMENT 'session-started: name of the collector' CODEC(ZSTD(1)),
    `version` LowCardinality(String) COMMENT 'session-started: version of Chancery' CODEC(ZSTD(1)),
    `shard` LowCardinality(String) COMMENT 'session-started: which share of the events it collects' CODEC(ZSTD(1)),
    `url` LowCardinality(String) COMMENT 'connected: address' CODEC(ZSTD(1)),
    `cause` String COMMENT 'Why the connection, subscription or session ended' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(recorded_at)
ORDER BY (type, session_id, sequence, `_offset`)
SETTINGS {log_settings}
COMMENT 'Collector events: connected, subscribed, disconnected, stale, backfilled, and a heartbeat every second';

CREATE TABLE IF NOT EXISTS {database}.polls
(
    `_log` LowCardinality(String) COMMENT 'Log identity of topic chancery.collector-events of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one collector event) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row inside its record, from 0' CODEC(ZSTD(1)),
    `started_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started' CODEC(Delta, ZSTD(1)),
    `finished_at` DateTime64(6, 'UTC') COMMENT 'When its receipt was written' CODEC(Delta, ZSTD(1)),
    `session_id` LowCardinality(String) COMMENT 'Session: UUID of one run of a collector' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, which its records carry too' CODEC(ZSTD(1)),
    `operation` LowCardinality(String) COMMENT 'Name of the operation' CODEC(ZSTD(1)),
    `subject` String COMMENT 'What it queried, such as an account or a market; `all` for lists without a subject' CODEC(ZSTD(1)),
    `expected_items` Nullable(UInt64) COMMENT 'Number of items that the exchange reported; NULL when it did not' CODEC(ZSTD(1)),
    `received_items` UInt64 COMMENT 'Items received' CODEC(ZSTD(1)),
    `distinct_items` UInt64 COMMENT 'Distinct items received' CODEC(ZSTD(1)),
    `pages` UInt32 COMMENT 'Pages read' CODEC(ZSTD(1)),
    `truncated` Bool COMMENT 'Whether the exchange limited the number of items' CODEC(ZSTD(1)),
    `outcome` Enum8('complete' = 1, 'incomplete' = 2, 'failed' = 3) COMMENT 'complete: everything was received' CODEC(ZSTD(1)),
    `cause` String COMMENT 'Why it is not complete' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(finished_at)
ORDER BY (operation, finished_at, `_offset`)
SETTINGS {log_settings}
COMMENT 'Receipts of polls: the request, the number of items received, and whether the poll was complete';
