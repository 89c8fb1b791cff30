-- The volume of a day, so that questions about months do not read every trade.
--
-- When a day is over and the offsets of all its records are committed, the worker that owns the partition of the activity feed sums its items
-- into volume_days, and then publishes the ID of that in volume_rollups, with the fingerprint of the day: a hash of the last offset
-- of every partition that has items of it. An item that arrives later changes the fingerprint in activity_days: then the views sum
-- the items of the day until the worker has done so again. So they are exact at any moment.
CREATE TABLE IF NOT EXISTS {database}.activity_days
(
    `executed_day` Date COMMENT 'UTC day of the execution; 1970-01-01 when it is unknown',
    `_log` LowCardinality(String) COMMENT 'Topic ID of chancery.account',
    `_partition` UInt32 COMMENT 'Partition of the topic',
    `last_offset` SimpleAggregateFunction(max, UInt64) COMMENT 'Offset of the last record with an item of this day'
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY (executed_day, _log, _partition)
SETTINGS {view_settings}
COMMENT 'Days of the activity feed, and where their last items are on the bus';

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.activity_days_of_records TO {database}.activity_days AS
SELECT toDate(ifNull(executed_at, toDateTime64(0, 6, 'UTC'))) AS executed_day, `_log`, `_partition`, max(`_offset`) AS last_offset
FROM {database}.activity_records
GROUP BY executed_day, `_log`, `_partition`;

CREATE TABLE IF NOT EXISTS {database}.volume_days
(
    `executed_day` Date COMMENT 'UTC day of the execution' CODEC(ZSTD(1)),
    `market` LowCardinality(String) COMMENT 'Market ID; empty when absent' CODEC(ZSTD(1)),
    `rollup_id` UInt64 COMMENT 'ID of the summation of one day; it counts if volume_rollups has it' CODEC(ZSTD(1)),
    `trades` UInt64 COMMENT 'Number of fills' CODEC(T64, ZSTD(1)),
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands' CODEC(ZSTD(1)),
    `volume` Decimal(38, 12) COMMENT 'Sum of quantity × price of the asset of the taker, USDC' CODEC(ZSTD(1)),
    `yes_value` Decimal(38, 12) COMMENT 'Sum of quantity × price in YES terms, USDC: of a NO asset 1 less its price' CODEC(ZSTD(1)),
    `unpriced_trades` UInt64 COMMENT 'Fills whose outcome is unknown, so that they have no YES price' CODEC(T64, ZSTD(1)),
    `unpriced_shares` Decimal(38, 12) COMMENT 'Shares of these fills' CODEC(ZSTD(1))
)
ENGINE = {engine:MergeTree}
ORDER BY (executed_day, market, rollup_id)
SETTINGS {view_settings}
COMMENT 'Volume of a market on a day, of all users. Read it through the view volume_by_market_and_day';

CREATE TABLE IF NOT EXISTS {database}.volume_rollups
(
    `executed_day` Date COMMENT 'UTC day of the execution',
    `rollup_id` UInt64 COMMENT 'ID of the rows of volume_days that hold the day',
    `fingerprint` UInt64 COMMENT 'Hash of the last offsets in activity_days when the items were summed; while that has another one, volume_days does not hold the day',
    `version` UInt64 COMMENT 'The row with the highest version counts'
)
ENGINE = {engine:ReplacingMergeTree(version)}
ORDER BY executed_day
SETTINGS {view_settings}
COMMENT 'Days of the activity feed that volume_days holds';
