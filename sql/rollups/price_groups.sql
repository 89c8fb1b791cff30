-- Publishes the rows that price_days.sql with the same run has inserted, if the fingerprint of the group is still the same.
INSERT INTO {database}.price_blocks (`_log`, `_partition`, block, rollup_id, days_id, version)
SELECT `_log`, `_partition`, block, rollup_id, {run:UInt64} AS days_id, version + 1 AS version
FROM
(
    SELECT
        `_log`, `_partition`, block, rollup_id, version,
        cityHash64(arraySort(groupArray((block, rollup_id)) OVER ())) AS fingerprint
    FROM {database}.price_blocks FINAL
    WHERE `_log` = {log:String} AND `_partition` = {partition:UInt32} AND intDiv(block, 16) = {block_group:UInt64}
)
WHERE fingerprint = {fingerprint:UInt64}
