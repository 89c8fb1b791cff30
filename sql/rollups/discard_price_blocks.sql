-- Rows of a partition are written again from the block first_block on: what price_hours and price_days hold of these blocks no longer
-- counts, nor what price_days holds of the blocks before it in the same group.
INSERT INTO {database}.price_blocks (`_log`, `_partition`, block, rollup_id, days_id, version)
SELECT
    `_log`, `_partition`, block,
    if(block >= {first_block:UInt64}, 0, price_blocks.rollup_id) AS rollup_id,
    toUInt64(0) AS days_id,
    version + 1 AS version
FROM {database}.price_blocks FINAL
WHERE `_log` = {log:String} AND `_partition` = {partition:UInt32} AND block >= intDiv({first_block:UInt64}, 16) * 16
    AND price_blocks.rollup_id != 0
