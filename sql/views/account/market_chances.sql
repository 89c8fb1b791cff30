-- What is the chance of every market that our accounts traded, and which of these markets are resolved?
--
-- The last trade price of the order book; if there is none, the last chance of the chance stream, then of chance history.
-- No order can be priced at 0 or 1, so a chance of exactly 0 or 1 is the last one of a resolved market. It is searched in
-- all three sources, because each of them may have been disconnected when the market was resolved.
CREATE OR REPLACE VIEW {database}.market_chances
(
    `market` String COMMENT 'Market ID',
    `chance` Nullable(Float64) COMMENT 'Probability of YES, 0 to 1; NULL when none is known',
    `decided` Bool COMMENT 'Whether it is the last chance of a resolved market',
    `source` String COMMENT 'order-book, chance-stream or chance-history; empty when none is known',
    `known_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was received'
)
AS
WITH known AS
    (
        SELECT
            market,
            arraySort(one -> (NOT one.1 IN (0, 1), one.4), groupArray((chance, source, received_at, rank)))[1] AS best
        FROM
        (
            SELECT toString(market) AS market, last AS chance, 'order-book' AS source, received_at, 1 AS rank
            FROM {database}.latest_prices
            WHERE market GLOBAL IN (SELECT market FROM {database}.trade_records)
            UNION ALL
            SELECT toString(market) AS market, argMax(chance_points.chance, (occurred_at, chance_points.received_at, `_offset`, `_index`)) AS chance, 'chance-stream' AS source, max(chance_points.received_at) AS received_at, 2 AS rank
            FROM {database}.chance_points
            WHERE market GLOBAL IN (SELECT market FROM {database}.trade_records)
            GROUP BY market
            UNION ALL
            SELECT toString(market) AS market, argMax(chance_history_points.chance, (occurred_at, chance_history_points.received_at)) AS chance, 'chance-history' AS source, max(chance_history_points.received_at) AS received_at, 3 AS rank
            FROM {database}.chance_history_points
            WHERE market GLOBAL IN (SELECT market FROM {database}.trade_records)
            GROUP BY market
        )
        GROUP BY market
    )
SELECT
    market,
    if(best.2 = '', NULL, best.1) AS chance,
    toBool(best.2 != '' AND best.1 IN (0, 1)) AS decided,
    best.2 AS source,
    if(best.2 = '', NULL, best.3) AS known_at
FROM
(
    SELECT toString(market) AS market FROM {database}.trade_records WHERE market != '' GROUP BY market
) AS traded
LEFT JOIN known USING (market);
