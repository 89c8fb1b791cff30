-- What was the chance of a market at every moment of which it is known?
--
-- The live points of the chance stream that are not repeated; where the last chance of a second was not received live, that of chance_backfills;
-- and, for times in which the market's event was not observed, points of polled history with a longer period than a second:
-- history fills gaps and never overwrites. A history point of a period [t - period, t) has the time of the last microsecond of
-- the period. Order the points of a market by (occurred_at, received_at, log_position).
CREATE OR REPLACE VIEW {database}.chance_series
(
    `event` String COMMENT 'Event ID; empty when the message has the market only',
    `market` String COMMENT 'Market ID',
    `occurred_at` DateTime64(6, 'UTC') COMMENT 'Time by the exchange, which counts in seconds; of a point of history, the last microsecond of its second or period',
    `chance` Float64 COMMENT 'Probability of YES, 0 to 1',
    `source` String COMMENT 'live: a change as it happened. last-known: the response to a subscription. history: UPDATE_HISTORY, or fetched later',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When it was received',
    `log_position` Tuple(`offset` UInt64, `index` UInt32) COMMENT 'Position on the bus: orders the rows received at the same time'
)
AS
SELECT
    event,
    market,
    occurred_at,
    chance,
    if(source = 'change', 'live', 'last-known') AS source,
    received_at,
    (`_offset`, `_index`) AS log_position
FROM {database}.chance_points
WHERE chance_points.source IN ('last-known', 'change') AND NOT repeated
UNION ALL
SELECT
    event,
    market,
    occurred_at,
    chance,
    'history' AS source,
    received_at,
    log_position
FROM {database}.chance_backfills
UNION ALL
SELECT
    event,
    market,
    occurred_at,
    chance,
    'history' AS source,
    received_at,
    log_position
FROM
-- On the left of the join, so that ClickHouse computes it only for the events that are needed.
(
    SELECT event, groupArray((begins_at, ends_at)) AS ranges
    FROM {database}.observed_ranges
    WHERE stream = 'chance'
    GROUP BY event
) AS observed
RIGHT JOIN
(
    SELECT
        event,
        market,
        if(period = '', points.occurred_at, points.occurred_at - toIntervalMicrosecond(1)) AS occurred_at,
        chance,
        received_at,
        (`_offset`, `_index`) AS log_position
    FROM {database}.chance_history_points AS points FINAL
    WHERE period NOT IN ('raw', '1s')
) AS fetched USING (event)
WHERE NOT arrayExists(range -> occurred_at >= range.1 AND occurred_at < range.2, ranges);
