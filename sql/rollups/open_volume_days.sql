-- The days that volume_days does not hold, that are over, and whose items all have committed offsets: in the log only in this partition and
-- before the offset `committed`. Other logs do not grow.
SELECT toString(executed_day) AS day, toString(fingerprint) AS fingerprint
FROM
(
{activity_day_fingerprints}
) AS days
WHERE executed_day BETWEEN '1970-01-02' AND toDate(now('UTC') - toIntervalHour(1)) - 1
    AND (executed_day, fingerprint) NOT IN (SELECT executed_day, fingerprint FROM {database}.volume_rollups FINAL)
    AND executed_day NOT IN (
        SELECT executed_day FROM {database}.activity_days
        WHERE `_log` = {log:String} AND (`_partition` != {partition:UInt32} OR last_offset >= {committed:UInt64})
    )
ORDER BY executed_day
