-- The groups of 16 blocks of a partition that price_hours holds and price_days does not, and a fingerprint of what price_hours holds of
-- them. All offsets of the blocks before the block `complete` are committed.
SELECT intDiv(block, 16) AS block_group, toString(cityHash64(arraySort(groupArray((block, price_blocks.rollup_id))))) AS fingerprint
FROM {database}.price_blocks FINAL
WHERE `_log` = {log:String} AND `_partition` = {partition:UInt32} AND block < intDiv({complete:UInt64}, 16) * 16
GROUP BY block_group
HAVING countIf(price_blocks.rollup_id = 0) = 0 AND countIf(days_id = 0) > 0
ORDER BY block_group
