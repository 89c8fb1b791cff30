-- How far behind is the pipeline?
--
-- From the records of the last hour by receive time, per topic and partition: the time from the collector's socket to the
-- row in ClickHouse, and the age of the newest record.
CREATE OR REPLACE VIEW {database}.pipeline_lag
(
    `topic` String COMMENT 'Topic',
    `partition` UInt32 COMMENT 'Partition of the topic',
    `records` UInt64 COMMENT 'Records of the last hour',
    `last_offset` UInt64 COMMENT 'Offset of the newest record',
    `last_received_at` DateTime64(6, 'UTC') COMMENT 'When the newest record was received',
    `last_written_at` DateTime64(6, 'UTC') COMMENT 'When the newest record was written',
    `age_seconds` Float64 COMMENT 'Time since last_received_at: the freshness of the data, while records arrive',
    `delay_p50_seconds` Float64 COMMENT 'Time from received to written, median',
    `delay_p99_seconds` Float64 COMMENT 'Time from received to written, 99th percentile',
    `delay_max_seconds` Float64 COMMENT 'Time from received to written, maximum'
)
AS
SELECT
    `_topic` AS topic,
    `_partition` AS partition,
    count() AS records,
    max(`_offset`) AS last_offset,
    max(received_at) AS last_received_at,
    max(written_at) AS last_written_at,
    dateDiff('microsecond', last_received_at, now64(6, 'UTC')) / 1e6 AS age_seconds,
    quantile(0.5)(delay) AS delay_p50_seconds,
    quantile(0.99)(delay) AS delay_p99_seconds,
    max(delay) AS delay_max_seconds
FROM
(
    SELECT *, dateDiff('microsecond', received_at, written_at) / 1e6 AS delay
    FROM {database}.raw_records
    WHERE received_at >= now64(6, 'UTC') - toIntervalHour(1)
)
GROUP BY `_topic`, `_partition`;
