-- How many rows and bytes does each table hold?
--
-- One row per table that stores rows, as ClickHouse counts them in its active parts. Tables that replace or aggregate rows also
-- become smaller when parts are merged. On a cluster they are the tables of the shard whose server is asked.
CREATE OR REPLACE VIEW {database}.table_sizes
(
    `table` String COMMENT 'Name of the table',
    `rows` UInt64 COMMENT 'Number of rows, with those that a later row replaces',
    `bytes` UInt64 COMMENT 'Bytes on disk, compressed',
    `contents` String COMMENT 'What the table holds'
)
AS
SELECT name AS table, assumeNotNull(total_rows) AS rows, assumeNotNull(total_bytes) AS bytes, comment AS contents
FROM system.tables
WHERE database = '{table_database}' AND engine LIKE '%MergeTree' AND total_rows IS NOT NULL AND total_bytes IS NOT NULL;
