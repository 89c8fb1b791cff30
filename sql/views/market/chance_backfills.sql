-- Of which seconds was the last chance not received live?
--
-- The last chance of a second is known from
--   - the stream's UPDATE_HISTORY, timed at the end of the second;
--   - raw history, which is requested of every observed event about every 20 seconds; a response less than 5 seconds after the
--     second is not used, because the second may not have been over;
--   - polled history with the period 1s, timed at the end of the second.
-- A second is listed when none of its live points was received, or when the last one of them has another chance: then points
-- were skipped, or the event was not observed. Of several sources the one received last counts. Other points that were skipped
-- within a second cannot be known.
CREATE OR REPLACE VIEW {database}.chance_backfills
(
    `event` String COMMENT 'Event ID; empty when the messages have the market only',
    `market` String COMMENT 'Market ID',
    `occurred_at` DateTime64(6, 'UTC') COMMENT 'Last microsecond of the second, by the exchange',
    `chance` Float64 COMMENT 'Last probability of YES in the second, 0 to 1',
    `live_chance` Nullable(Float64) COMMENT 'The last one that was received live in the second, 0 to 1; NULL when none was',
    `source` String COMMENT 'update-history: UPDATE_HISTORY. raw or 1s: chance history',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When it was first received',
    `log_position` Tuple(`offset` UInt64, `index` UInt32) COMMENT 'Position on the bus where it was first received'
)
AS
SELECT
    event_id AS event,
    market,
    second + toIntervalMicrosecond(999999) AS occurred_at,
    known.3 AS chance,
    if(live_points > 0, last_live, NULL) AS live_chance,
    first_known.4 AS source,
    first_known.1 AS received_at,
    first_known.2 AS log_position
FROM
(
    SELECT
        max(event) AS event_id,
        market,
        second,
        countIf(origin = 'live') AS live_points,
        argMaxIf(chance, (received_at, log_position), origin = 'live') AS last_live,
        arraySort(groupArrayIf((received_at, log_position, chance, origin), origin != 'live')) AS sources,
        sources[-1] AS known,
        arrayFirst(source -> source.3 = known.3, sources) AS first_known
    FROM
    (
        SELECT
            event,
            market,
            toStartOfSecond(if(source = 'aggregate', chance_points.occurred_at - toIntervalSecond(1), chance_points.occurred_at)) AS second,
            chance,
            if(source = 'aggregate', 'update-history', 'live') AS origin,
            received_at,
            (`_offset`, `_index`) AS log_position
        FROM {database}.chance_points
        WHERE source IN ('change', 'aggregate')
        UNION ALL
        SELECT
            event,
            market,
            toStartOfSecond(if(period = 'raw', chance_history_points.occurred_at, chance_history_points.occurred_at - toIntervalSecond(1))) AS second,
            chance,
            toString(period) AS origin,
            received_at,
            (`_offset`, `_index`) AS log_position
        FROM {database}.chance_history_points
        WHERE period = '1s' OR (period = 'raw' AND received_at >= chance_history_points.occurred_at + toIntervalSecond(5))
    )
    GROUP BY market, second
    HAVING notEmpty(sources) AND (live_points = 0 OR last_live != known.3)
);
