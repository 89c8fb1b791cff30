-- What collectors report about their own connections and polls: the basis of coverage, gaps and completeness, together with the times in
-- which event search listed an event, and those in which records were lost.
CREATE TABLE IF NOT EXISTS {database}.collector_events
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.collector-events, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one collector event) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(ZSTD(1)),
    `recorded_at` DateTime64(6, 'UTC') COMMENT 'The time that the event refers to, by the clock of the collector' CODEC(Delta, ZSTD(1)),
    `session_id` LowCardinality(String) COMMENT 'Session: UUID of one run of a collector' CODEC(ZSTD(1)),
    `sequence` UInt64 COMMENT 'Sequence number of the collector event in its session, from 1' CODEC(Delta, ZSTD(1)),
    `type` LowCardinality(String) COMMENT 'Type of the event, such as connected, subscribed, heartbeat, stale or session-stopped' CODEC(ZSTD(1)),
    `stream` LowCardinality(String) COMMENT 'Stream, such as order-book; empty for events of the session' CODEC(ZSTD(1)),
    `connection_id` LowCardinality(String) COMMENT 'UUID of the WebSocket connection' CODEC(ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID of the subscription; for orders and balance the name of the account, for feed its name' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'backfilled: market ID' CODEC(ZSTD(1)),
    `markets` Array(String) COMMENT 'subscribed: market IDs; for balance asset IDs' CODEC(ZSTD(1)),
    `last_verified_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'stale: until when the subscription was known to be current' CODEC(ZSTD(1)),
    `range_from` Nullable(DateTime64(6, 'UTC')) COMMENT 'backfilled: start of the range that history was fetched for' CODEC(ZSTD(1)),
    `range_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'backfilled: end of the range that history was fetched for' CODEC(ZSTD(1)),
    `fetched_from` Nullable(DateTime64(6, 'UTC')) COMMENT 'backfilled: start of the time without a hole that was fetched up to range_to, in this and earlier ranges' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'backfilled: UUID of the poll' CODEC(ZSTD(1)),
    `acknowledged` Map(LowCardinality(String), UInt64) COMMENT 'heartbeat: last sequence number per topic that is durable on the bus' CODEC(ZSTD(1)),
    `last_frames` Map(LowCardinality(String), UInt64) COMMENT 'heartbeat: until when each open connection is complete, which is the time of its last frame as a rule, Unix microseconds by connection_id' CODEC(ZSTD(1)),
    `collector` LowCardinality(String) COMMENT 'session-started: name of the collector' CODEC(ZSTD(1)),
    `version` LowCardinality(String) COMMENT 'session-started: version of Chancery' CODEC(ZSTD(1)),
    `shard` LowCardinality(String) COMMENT 'session-started: share of the events that it collects' CODEC(ZSTD(1)),
    `url` LowCardinality(String) COMMENT 'connected: address' CODEC(ZSTD(1)),
    `cause` String COMMENT 'Why the connection, subscription or session ended' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1,
    INDEX times recorded_at TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(recorded_at)
ORDER BY (type, session_id, sequence, `_offset`)
SETTINGS {log_settings}
COMMENT 'Collector events: connected, subscribed, disconnected, stale, backfilled, and a heartbeat at least once a second';

CREATE TABLE IF NOT EXISTS {database}.polls
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.collector-events, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one collector event) in its partition' CODEC(Delta, ZSTD(1)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(ZSTD(1)),
    `started_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started' CODEC(Delta, ZSTD(1)),
    `finished_at` DateTime64(6, 'UTC') COMMENT 'When its receipt was written' CODEC(Delta, ZSTD(1)),
    `session_id` LowCardinality(String) COMMENT 'Session: UUID of one run of a collector' CODEC(ZSTD(1)),
    `poll_id` String COMMENT 'UUID of the poll, also in its records' CODEC(ZSTD(1)),
    `operation` LowCardinality(String) COMMENT 'Name of the operation' CODEC(ZSTD(1)),
    `subject` String COMMENT 'Subject of the request, such as an account or a market; `all` for lists without a subject' CODEC(ZSTD(1)),
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

CREATE TABLE IF NOT EXISTS {database}.audits
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.collector-events, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one audit) in its partition' CODEC(Delta, ZSTD(3)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(ZSTD(1)),
    `audited_at` DateTime64(6, 'UTC') COMMENT 'When the prices of the exchange were received. They are compared with the prices at this moment' CODEC(Delta, ZSTD(1)),
    `session_id` LowCardinality(String) COMMENT 'Session: UUID of one run of a collector' CODEC(ZSTD(1)),
    `stream` LowCardinality(String) COMMENT 'order-book' CODEC(ZSTD(1)),
    `connection_id` LowCardinality(String) COMMENT 'UUID of the WebSocket connection' CODEC(ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID' CODEC(ZSTD(1)),
    `reason` Enum8('interval' = 1, 'silence' = 2, 'difference' = 3, 'unrequested' = 4) COMMENT 'interval: it was due. silence: of the whole connection. difference: the last price differed from the chance stream for more than 2 s. unrequested: the exchange sent its prices without a request, and they were unequal' CODEC(ZSTD(1)),
    `last_equal_at` DateTime64(6, 'UTC') COMMENT 'The previous audit in which all prices were equal, or the initial snapshot of the subscription' CODEC(Delta, ZSTD(1)),
    `changes` UInt64 COMMENT 'Changes received since the previous audit, without repeated ones' CODEC(T64, ZSTD(1)),
    `compared` UInt32 COMMENT 'Markets compared' CODEC(T64, ZSTD(1)),
    `changed` UInt32 COMMENT 'Compared markets that changed since the previous audit of the reason interval' CODEC(T64, ZSTD(1)),
    `missed` UInt32 COMMENT 'Changed markets whose last change was not received: unequal in this audit, or in one of another reason since' CODEC(T64, ZSTD(1)),
    `late` UInt32 COMMENT 'Markets whose price was that of their next change, received within 1.5 s after the audit: the prices of the exchange were ahead of its stream' CODEC(T64, ZSTD(1)),
    `mismatches` UInt32 COMMENT 'Unequal markets, each a row of audit_mismatches' CODEC(T64, ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(audited_at)
ORDER BY (stream, event, audited_at, `_offset`)
SETTINGS {log_settings}
COMMENT 'Audits: comparisons of the recorded prices of an event with those that the exchange states on request, one row per event and audit';

CREATE TABLE IF NOT EXISTS {database}.audit_mismatches
(
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.collector-events, the topic of the record' CODEC(ZSTD(1)),
    `_partition` UInt32 COMMENT 'Partition of the topic' CODEC(ZSTD(1)),
    `_offset` UInt64 COMMENT 'Offset of the record (one audit) in its partition' CODEC(Delta, ZSTD(3)),
    `_index` UInt32 COMMENT 'Number of the row within its record, from 0' CODEC(ZSTD(1)),
    `audited_at` DateTime64(6, 'UTC') COMMENT 'When the prices of the exchange were received' CODEC(Delta, ZSTD(1)),
    `session_id` LowCardinality(String) COMMENT 'Session: UUID of one run of a collector' CODEC(ZSTD(1)),
    `stream` LowCardinality(String) COMMENT 'order-book' CODEC(ZSTD(1)),
    `event` LowCardinality(String) COMMENT 'Event ID' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID' CODEC(ZSTD(1)),
    `last_equal_at` DateTime64(6, 'UTC') COMMENT 'The previous audit in which all prices of the event were equal: between it and this one, changes were lost' CODEC(Delta, ZSTD(1)),
    `our_last` Float64 COMMENT 'Recorded price of the last trade in YES terms' CODEC(ZSTD(1)),
    `our_bid` Nullable(Float64) COMMENT 'Recorded best bid; NULL when there is no bid' CODEC(ZSTD(1)),
    `our_ask` Nullable(Float64) COMMENT 'Recorded best ask; NULL when there is no ask' CODEC(ZSTD(1)),
    `their_last` Float64 COMMENT 'Price of the last trade, as the exchange states it' CODEC(ZSTD(1)),
    `their_bid` Nullable(Float64) COMMENT 'Best bid, as the exchange states it; NULL when there is no bid' CODEC(ZSTD(1)),
    `their_ask` Nullable(Float64) COMMENT 'Best ask, as the exchange states it; NULL when there is no ask' CODEC(ZSTD(1)),
    INDEX offsets `_offset` TYPE minmax GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(audited_at)
ORDER BY (market, audited_at, `_offset`, `_index`)
SETTINGS {log_settings}
COMMENT 'Markets whose recorded prices were not equal to those of the exchange in an audit';
