SELECT executed_day, cityHash64(arraySort(groupArray((log, partition, last_offset)))) AS fingerprint
FROM
(
    SELECT executed_day, toString(`_log`) AS log, `_partition` AS partition, max(activity_days.last_offset) AS last_offset
    FROM {database}.activity_days
    GROUP BY executed_day, log, partition
)
GROUP BY executed_day
