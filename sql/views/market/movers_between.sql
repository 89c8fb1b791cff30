-- Which markets moved most within any window?
--
--   SELECT * FROM movers_between(from_at = '2026-01-05 12:00', to_at = '2026-01-05 18:00') ORDER BY abs(change) DESC LIMIT 10
--
-- The window is (from_at, to_at], UTC. One row per market with a tick within it (not repeated, and no resolution: a last price of 0 or 1
-- is no trade):
--   price_before = price of the last trade in the last tick at or before the start of the window, searched from the full hour
--                  that is at least 7 days before it; where there is none, in the first tick after it (see price_before_at)
--   price_after  = price of the last trade in the last tick
--   change       = price_after - price_before, in points of probability, not in percent of the price
-- Order by abs(change) DESC for the largest.
CREATE OR REPLACE VIEW {database}.movers_between
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `title` Nullable(String) COMMENT 'Title of the event',
    `name` Nullable(String) COMMENT 'Name of the market',
    `price_before` Float64 COMMENT 'Price of the last trade at the start of the window, in YES terms',
    `price_after` Float64 COMMENT 'Price of the last trade at the end of the window, in YES terms',
    `change` Float64 COMMENT 'price_after - price_before, in points of probability: -1 to 1',
    `high` Float64 COMMENT 'Highest price of the last trade within the window, in YES terms',
    `low` Float64 COMMENT 'Lowest price of the last trade within the window, in YES terms',
    `ticks` UInt64 COMMENT 'Rows of price_ticks within the window that are neither repeated nor a resolution',
    `price_before_at` DateTime64(6, 'UTC') COMMENT 'When price_before was received',
    `price_after_at` DateTime64(6, 'UTC') COMMENT 'When price_after was received'
)
AS
WITH
    parseDateTime64BestEffort({from_at:String}, 6, 'UTC') AS window_start,
    parseDateTime64BestEffort({to_at:String}, 6, 'UTC') AS window_end,
    -- The first tick after the start and after the end, as numbers of price_hours.
    bitShiftLeft(toUInt128(toUnixTimestamp64Micro(window_start) + 1), 64) AS start_tick,
    bitShiftLeft(toUInt128(toUnixTimestamp64Micro(window_end) + 1), 64) AS end_tick,
    -- Compared faster than the list of blocks.
    (SELECT if(count() = 0, 18446744073709551615, min(block) * 65536) FROM {database}.price_blocks FINAL WHERE rollup_id = 0) AS first_offset
SELECT
    event,
    market,
    title,
    name,
    earlier.1 AS price_before,
    latest.1 AS price_after,
    latest.1 - earlier.1 AS change,
    high,
    low,
    ticks,
    earlier.2 AS price_before_at,
    latest.2 AS price_after_at
FROM
(
    SELECT
        any(hours.event) AS event,
        market,
        if(
            countIf(NOT inside) > 0,
            (argMaxIf(hours.close, last_tick, NOT inside), maxIf(last_tick, NOT inside)),
            (argMin(hours.open, first_tick), min(first_tick))
        ) AS before,
        (before.1, fromUnixTimestamp64Micro(toInt64(bitShiftRight(before.2, 64)), 'UTC')) AS earlier,
        (argMax(hours.close, last_tick), fromUnixTimestamp64Micro(toInt64(bitShiftRight(max(last_tick), 64)), 'UTC')) AS latest,
        maxIf(hours.high, inside) AS high,
        minIf(hours.low, inside) AS low,
        sumIf(hours.ticks, inside) AS ticks
    FROM
    (
        SELECT event, market, first_tick >= start_tick AS inside, open, high, low, close, first_tick, last_tick, ticks
        FROM {database}.price_hours
        WHERE begins_at >= toStartOfHour(window_start - toIntervalDay(7)) AND begins_at <= window_end
            AND last_tick < end_tick AND (first_tick >= start_tick OR last_tick < start_tick)
            AND rollup_id GLOBAL IN (SELECT rollup_id FROM {database}.price_blocks FINAL)
        UNION ALL
        -- The start or the end of the window cuts some rows of price_hours: their ticks instead.
        SELECT event, market, inside, open, high, low, close, first_tick, last_tick, ticks
        FROM
        (
            SELECT
                event,
                market,
                received_at > window_start AS inside,
{price_bar}
            FROM {database}.price_ticks
            WHERE (received_at >= toStartOfHour(window_start) AND received_at < toStartOfHour(window_start) + toIntervalHour(1) OR received_at >= toStartOfHour(window_end))
                AND received_at <= window_end AND NOT repeated AND NOT is_resolution
                AND (market, toStartOfHour(received_at), `_log`, `_partition`, intDiv(`_offset`, 65536)) GLOBAL IN (
                    SELECT market, begins_at, `_log`, `_partition`, block
                    FROM
                    (
                        SELECT market, begins_at, rollup_id
                        FROM {database}.price_hours
                        WHERE begins_at IN (toStartOfHour(window_start), toStartOfHour(window_end))
                            AND (first_tick < start_tick AND last_tick >= start_tick OR first_tick < end_tick AND last_tick >= end_tick)
                    ) AS cut_hours
                    GLOBAL INNER JOIN (SELECT `_log`, `_partition`, block, rollup_id FROM {database}.price_blocks FINAL WHERE rollup_id != 0) AS blocks USING (rollup_id)
                )
            GROUP BY event, market, inside
        )
        UNION ALL
        -- What price_hours does not hold yet.
        SELECT event, market, inside, open, high, low, close, first_tick, last_tick, ticks
        FROM
        (
            SELECT
                event,
                market,
                received_at > window_start AS inside,
{price_bar}
            FROM {database}.price_ticks
            WHERE received_at >= toStartOfHour(window_start - toIntervalDay(7)) AND received_at <= window_end
                AND `_offset` >= first_offset AND (`_log`, `_partition`, intDiv(`_offset`, 65536)) GLOBAL IN (SELECT `_log`, `_partition`, block FROM {database}.price_blocks FINAL WHERE rollup_id = 0)
                AND NOT repeated AND NOT is_resolution
            GROUP BY event, market, inside
        )
    ) AS hours
    GROUP BY market
    HAVING ticks > 0
) AS moves
LEFT JOIN (SELECT event, title FROM ({event_texts})) AS titles USING (event)
LEFT JOIN (SELECT market, name FROM {database}.markets) AS names USING (market);
