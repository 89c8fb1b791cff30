-- The blocks of a partition that price_hours does not hold and whose offsets are all committed: those before the block `complete`.
SELECT block
FROM {database}.price_blocks FINAL
WHERE `_log` = {log:String} AND `_partition` = {partition:UInt32} AND block < {complete:UInt64} AND rollup_id = 0
ORDER BY block
