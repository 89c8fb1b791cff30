-- Sums the trades of our accounts in the next markets.
INSERT INTO {database}.own_volumes (market, sums, shared_fills, fingerprint, computed_at)
WITH open AS
    (
{open_own_volumes}
    )
SELECT market, volumes.sums, volumes.shared_fills, open.fingerprint, now64(6, 'UTC')
FROM open
LEFT JOIN
(
    SELECT
        market,
        groupArrayIf((executed_day, event, asset, trades, shares, value), trades > 0) AS sums,
        groupUniqArrayArray(shared) AS shared_fills
    FROM
    (
        SELECT
            market,
            executed_day,
            event,
            asset,
            countIf(sides = 1) AS trades,
            sumIf(quantity, sides = 1) AS shares,
            sumIf(toDecimal256(quantity, 12) * toDecimal256(price, 12), sides = 1) AS value,
            groupUniqArrayIf(fill, sides > 1) AS shared
        FROM
        (
            SELECT
                toString(trade_records.market) AS market,
                toString(trade_records.event) AS event,
                toString(trade_records.asset) AS asset,
                toDate(executed_at) AS executed_day,
                quantity,
                price,
                cityHash64(trade_id) AS fill,
                if(trade_id = '', 1, count() OVER (PARTITION BY trade_records.market, cityHash64(trade_id))) AS sides
            FROM {database}.trade_records FINAL
            WHERE trade_records.market IN (SELECT market FROM open)
        )
        GROUP BY market, executed_day, event, asset
    )
    GROUP BY market
) AS volumes USING (market)
