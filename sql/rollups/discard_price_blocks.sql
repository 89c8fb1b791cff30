-- Rows of a partition are written again from the block first_block on: what price_hours holds of these blocks no longer counts.
INSERT INTO {database}.price_blocks (`_log`, `_partition`, block, rollup_id, version)
SELECT `_log`, `_partition`, block, toUInt64(0) AS rollup_id, version + 1 AS version
FROM {database}.price_blocks FINAL
WHERE `_log` = {log:String} AND `_partition` = {partition:UInt32} AND block >= {first_block:UInt64} AND price_blocks.rollup_id != 0
