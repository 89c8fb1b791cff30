-- What was the chance of a market at every moment of which anything is known?
--
-- What the chance stream sent live, and in the times in which the market's event was not watched, the points of chance
-- history: history fills gaps and never overwrites. A point of history of a period [t - period, t) stands at its last
-- microsecond. Order the points of a market by (at, received_at, place).
CREATE OR REPLACE VIEW {database}.chance_series
(
    `event` LowCardinality(String) COMMENT 'Event ID; empty when the message named the market only',
    `market` LowCardinality(String) COMMENT 'Market ID',
    `at` DateTime64(6, 'UTC') COMMENT 'Time by the exchange, which counts in seconds; of a point of history for a period, the last microsecond of the period',
    `chance` Float64 COMMENT 'Probability of YES, 0 to 1',
    `source` String COMMENT 'live: a change as it happened. last-known: the answer to a subscription. history: fetched later',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When it was received',
    `place` Tuple(`offset` UInt64, `index` UInt32) COMMENT 'Place of the row among those received at the same time'
)
AS
SELECT
    event,
    market,
    occurred_at AS at,
    chance,
    if(source = 'change', 'live', 'last-known') AS source,
    received_at,
    (`_offset`, `_index`) AS place
FROM {database}.chance_points
WHERE chance_points.source IN ('last-known', 'change')
UNION ALL
SELECT
    event,
    market,
    at,
    chance,
    'history' AS source,
    received_at,
    place
FROM
(
    SELECT
        event,
        market,
        if(period IN ('raw', ''), occurred_at, occurred_at - toIntervalMicrosecond(1)) AS at,
        chance,
        received_at,
        (`_offset`, `_index`) AS place
    FROM {database}.chance_history_points FINAL
) AS fetched
LEFT JOIN
(
    SELECT event, groupArray((begins_at, ends_at)) AS ranges
    FROM {database}.covered_ranges
    WHERE stream = 'chance'
    GROUP BY event
) AS watched USING (event)
WHERE NOT arrayExists(range -> at >= range.1 AND at < range.2, ranges);
