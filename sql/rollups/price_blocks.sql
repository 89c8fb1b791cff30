-- Publishes the rows that price_hours.sql with the same run has inserted.
INSERT INTO {database}.price_blocks (`_log`, `_partition`, block, rollup_id, version)
SELECT `_log`, `_partition`, block, cityHash64({run:UInt64}, `_log`, `_partition`, block) AS rollup_id, version + 1 AS version
FROM {database}.price_blocks FINAL
WHERE `_log` = {log:String} AND `_partition` = {partition:UInt32}
    AND block BETWEEN {first_block:UInt64} AND {last_block:UInt64} AND price_blocks.rollup_id = 0
