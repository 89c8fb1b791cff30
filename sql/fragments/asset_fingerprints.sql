-- Of the offsets of all assets that the account traded in the markets of the asset: a record that is sent again with another asset of
-- its market changes the sums of both.
SELECT account, asset, cityHash64(arraySort(groupArray(of_market))) AS fingerprint
FROM
(
    SELECT account, market, groupUniqArray(traded) AS assets, cityHash64(arraySort(groupArray((traded, log, partition, last_offset)))) AS of_market
    FROM
    (
        SELECT toString(trade_states.account) AS account, toString(trade_states.market) AS market, toString(trade_states.asset) AS traded, toString(`_log`) AS log, `_partition` AS partition, max(trade_states.last_offset) AS last_offset
        FROM {database}.trade_states
        GROUP BY account, market, traded, log, partition
    )
    GROUP BY account, market
)
ARRAY JOIN assets AS asset
GROUP BY account, asset
