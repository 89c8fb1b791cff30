-- What is the chance of every market, and which of these chances are final?
--
-- One row per market that event search listed, that was traded by our accounts, or that has a known price or chance. The
-- chance is the last trade price of the order book; if there is none, the last chance of the chance stream, then of chance
-- history. No order can be priced at 0 or 1, so a last chance of exactly 0 or 1 is that of a resolved market, of the order
-- book only when the book is empty. Such a chance is searched in all three sources and comes first, because each of them may
-- have been disconnected when the market was resolved.
CREATE OR REPLACE VIEW {database}.market_chances
(
    `market` String COMMENT 'Market ID',
    `chance` Nullable(Float64) COMMENT 'Probability of YES, 0 to 1; NULL when none is known',
    `decided` Bool COMMENT 'Whether it is the final chance of a resolved market',
    `source` String COMMENT 'order-book, chance-stream or chance-history; empty when none is known',
    `known_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was received'
)
AS
SELECT
    market,
    if(best.3 = '', NULL, best.2) AS chance,
    toBool(best.1) AS decided,
    best.3 AS source,
    if(best.3 = '', NULL, best.4) AS known_at
FROM
(
    SELECT
        market,
        arraySort(one -> (NOT one.1, one.5), groupArray((final, chance, source, received_at, rank)))[1] AS best
    FROM
    (
        SELECT market, last AS chance, last IN (0, 1) AND bid IS NULL AND ask IS NULL AS final, 'order-book' AS source, received_at, 1 AS rank
        FROM {database}.latest_ticks
        UNION ALL
        SELECT
            toString(market) AS market,
            argMaxMerge(latest) AS chance,
            chance IN (0, 1) AS final,
            if(chance_states.source = 'live', 'chance-stream', 'chance-history') AS source,
            CAST(max(last_received_at) AS DateTime64(6, 'UTC')) AS received_at,
            if(chance_states.source = 'live', 2, 3) AS rank
        FROM {database}.chance_states
        GROUP BY market, chance_states.source
        UNION ALL
        SELECT DISTINCT market, 0. AS chance, false AS final, '' AS source, toDateTime64(0, 6, 'UTC') AS received_at, 4 AS rank
        FROM {database}.market_states
        UNION ALL
        SELECT DISTINCT toString(market) AS market, 0. AS chance, false AS final, '' AS source, toDateTime64(0, 6, 'UTC') AS received_at, 4 AS rank
        FROM {database}.trade_states
        WHERE market != ''
    )
    GROUP BY market
);
