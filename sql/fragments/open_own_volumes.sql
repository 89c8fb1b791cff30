-- The next markets whose own_volumes are not those of their trades, and whose trades all have committed offsets, as in open_positions.
SELECT market, fingerprint
FROM
(
{market_fingerprints}
) AS known
WHERE (market, fingerprint) NOT IN (SELECT market, fingerprint FROM {database}.own_volumes FINAL)
    AND market NOT IN (
        SELECT market FROM {database}.trade_states
        WHERE `_log` = {log:String} AND last_offset >= {committed:Array(UInt64)}[indexOf({partitions:Array(UInt32)}, `_partition`)]
    )
ORDER BY market
LIMIT {max_rows:UInt32}
