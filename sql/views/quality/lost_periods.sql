-- When were records received that the bus or ClickHouse lost?
--
-- The rows of lost_ranges with the time from the first lost record to the last, as far as it is known. Records with the
-- same key are on one partition. The key of a frame is its event, that of a record of an account or feed is the name, and
-- that of a collector event is its session.
CREATE OR REPLACE VIEW {database}.lost_periods
(
    `topic` String COMMENT 'Topic of the lost records',
    `partition` UInt32 COMMENT 'Partition of the topic',
    `partitions` UInt32 COMMENT 'Number of partitions of the topic',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Receive time of the first lost record, or of the record before it; 1970 when neither is known',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'Receive time of the last lost record, or of the record after it',
    `records` UInt64 COMMENT 'Number of lost records',
    `cause` String COMMENT 'Why they were lost'
)
AS
SELECT
    _topic AS topic,
    _partition AS partition,
    lost_ranges.partitions AS partitions,
    ifNull(lost_ranges.begins_at, toDateTime64(0, 6, 'UTC')) AS begins_at,
    lost_ranges.ends_at AS ends_at,
    last_offset - first_offset + 1 AS records,
    lost_ranges.cause AS cause
FROM {database}.lost_ranges;
