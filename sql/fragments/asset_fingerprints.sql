SELECT account, asset, cityHash64(arraySort(groupArray((log, partition, last_offset)))) AS fingerprint
FROM
(
    SELECT toString(trade_states.account) AS account, toString(trade_states.asset) AS asset, toString(`_log`) AS log, `_partition` AS partition, max(trade_states.last_offset) AS last_offset
    FROM {database}.trade_states
    GROUP BY account, asset, log, partition
)
GROUP BY account, asset
