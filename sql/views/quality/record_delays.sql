-- How long did each record take from the collector to its row?
--
-- One row per record of the bus; a body in pieces has several rows. delay_seconds = written_at - received_at, from the clock of the
-- collector to that of ClickHouse. A record that is not written yet has no row: see undelivered. pipeline_lag sums up the last hour.
CREATE OR REPLACE VIEW {database}.record_delays
(
    `topic` String COMMENT 'Topic',
    `partition` UInt32 COMMENT 'Partition of the topic',
    `offset` UInt64 COMMENT 'Offset of the record in its partition',
    `kind` String COMMENT 'Record kind, such as order-book.frame',
    `body_bytes` UInt64 COMMENT 'Length of the body in bytes, also when it is not stored',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received it',
    `written_at` DateTime64(6, 'UTC') COMMENT 'When its row was written, in whole milliseconds, by the clock of ClickHouse',
    `delay_seconds` Float64 COMMENT 'Time from received_at to written_at; below 0 when the clocks differ by more'
)
AS
SELECT
    `_topic` AS topic,
    `_partition` AS partition,
    `_offset` AS offset,
    kind,
    body_bytes,
    received_at,
    written_at,
    dateDiff('microsecond', received_at, written_at) / 1e6 AS delay_seconds
FROM {database}.raw_records;
