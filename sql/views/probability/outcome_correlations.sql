-- Do the prices of the markets of an event move together or against each other?
--
--   SELECT * FROM outcome_correlations(period_seconds = 300, from_at = '2026-01-05', to_at = '2026-01-06') WHERE event = '...'
--
-- One row per pair of markets of an event. From the prices at fixed times (resampled_prices): Pearson's correlation of the changes of
-- the last price of both markets between two successive times, where all four prices are observed. All steps have one length, because
-- changes grow with it: unlike in candles, 2592000 is 30 days here, not a calendar month.
-- NULL with fewer than 3 changes, or when all changes of one of the two prices are equal. The fewer changes, the more it is chance.
CREATE OR REPLACE VIEW {database}.outcome_correlations
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID, the smaller one of the pair',
    `other_market` String COMMENT 'Market ID of the other one',
    `changes` UInt64 COMMENT 'Number of changes that both have, those of 0 included',
    `correlation` Nullable(Float64) COMMENT 'Correlation of the changes, -1 to 1; NULL when there are too few, or all of one market are equal'
)
AS
SELECT
    event,
    market,
    other_market,
    changes,
    if(changes < 3 OR NOT isFinite(pearson), NULL, greatest(-1, least(1, pearson))) AS correlation
FROM
(
    SELECT
        event,
        market,
        other_market,
        count() AS changes,
        -- In order of time: the sum of doubles depends on the order.
        arraySort(groupArray((sampled_at, change, other_change))) AS moves,
        arrayReduce('corrStable', arrayMap(move -> move.2, moves), arrayMap(move -> move.3, moves)) AS pearson
    FROM
    (
        SELECT
            event,
            sampled_at,
            pair.1.1 AS market,
            pair.2.1 AS other_market,
            pair.1.2 AS change,
            pair.2.2 AS other_change
        FROM
        (
            SELECT
                event,
                sampled_at,
                arraySort(groupArray((market, change))) AS moves,
                arrayJoin(arrayFlatten(arrayMap(i -> arrayMap(j -> (moves[i], moves[j]), range(i + 1, length(moves) + 1)), arrayEnumerate(moves)))) AS pair
            FROM
            (
                -- Rounded, so that equal changes are equal doubles: if one of two prices always changes by the same, there is no correlation.
                SELECT event, market, pair.1.1 AS sampled_at, round(pair.1.2 - pair.2.2, 12) AS change
                FROM
                (
                    SELECT
                        event,
                        market,
                        arraySort(groupArray((sampled_at, last, state = 'observed'))) AS points,
                        -- Not a WHERE, which would keep ClickHouse from reading one event only.
                        arrayJoin(arrayFilter(two -> two.1.3 AND two.2.3, arrayZip(arrayPopFront(points), arrayPopBack(points)))) AS pair
                    FROM {database}.resampled_prices(period_seconds = {period_seconds:UInt32}, from_at = {from_at:String}, to_at = {to_at:String})
                    GROUP BY event, market
                )
            )
            GROUP BY event, sampled_at
        )
    )
    GROUP BY event, market, other_market
);
