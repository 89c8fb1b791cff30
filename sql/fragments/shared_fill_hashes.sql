-- Hashes of the own fills that have two records: fills between two of our accounts, and records that are not merged yet. A different fill
-- with the same hash is grouped in vain, which changes nothing. Both sides of a fill are in one market: own_volumes lists those of the
-- markets that it holds.
SELECT groupArray(fill)
FROM
(
    SELECT arrayJoin(own_volumes.shared_fills) AS fill
    FROM {database}.own_volumes FINAL
    WHERE (market, fingerprint) GLOBAL IN
    (
{market_fingerprints}
    )
    UNION ALL
    SELECT cityHash64(trade_id) AS fill
    FROM {database}.trade_records
    WHERE trade_id != '' AND market GLOBAL IN
    (
        SELECT market
        FROM
        (
{market_fingerprints}
        ) AS known
        WHERE (market, fingerprint) GLOBAL NOT IN (SELECT market, fingerprint FROM {database}.own_volumes FINAL)
    )
    GROUP BY fill
    HAVING count() > 1
)
