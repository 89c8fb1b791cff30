SELECT market, cityHash64(arraySort(groupArray((account, asset, log, partition, last_offset)))) AS fingerprint
FROM
(
    SELECT toString(trade_states.market) AS market, toString(trade_states.account) AS account, toString(trade_states.asset) AS asset, toString(`_log`) AS log, `_partition` AS partition, max(trade_states.last_offset) AS last_offset
    FROM {database}.trade_states
    GROUP BY market, account, asset, log, partition
)
GROUP BY market
