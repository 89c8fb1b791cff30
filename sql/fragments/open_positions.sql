-- The next assets of accounts whose position_states are not those of their trades, and whose trades all have committed offsets: partitions are
-- those that the worker owns, committed their offsets in the same order. Other logs do not grow.
SELECT account, asset, fingerprint
FROM
(
{asset_fingerprints}
) AS known
WHERE (account, asset, fingerprint) NOT IN (SELECT account, asset, fingerprint FROM {database}.position_states FINAL)
    AND (account, asset) NOT IN (
        SELECT account, asset FROM {database}.trade_states
        WHERE (account, market) IN (
            SELECT account, market FROM {database}.trade_states
            WHERE `_log` = {log:String} AND last_offset >= {committed:Array(UInt64)}[indexOf({partitions:Array(UInt32)}, `_partition`)]
        )
    )
ORDER BY account, asset
LIMIT {max_rows:UInt32}
