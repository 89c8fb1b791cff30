-- For which times was the chance of a market fetched from history?
--
-- The ranges of the collector events `backfilled`, merged where they overlap or touch.
CREATE OR REPLACE VIEW {database}.backfilled_ranges
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the range',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'End of the range'
)
AS
SELECT
    event,
    market,
    fromUnixTimestamp64Micro(intDiv(island.1, 2), 'UTC') AS begins_at,
    fromUnixTimestamp64Micro(intDiv(island.2, 2), 'UTC') AS ends_at
FROM
(
    SELECT
        event,
        market,
        -- A range begins where the number of open ranges becomes 1, and ends where it becomes 0.
        arrayCumSum(time -> if(time % 2 = 0, 1, -1), times) AS open_ranges,
        arrayZip(
            arrayFilter((time, number) -> time % 2 = 0 AND number = 1, times, open_ranges),
            arrayFilter((time, number) -> number = 0, times, open_ranges)
        ) AS islands
    FROM
    (
        SELECT
            event,
            market,
            -- Twice the microseconds of a beginning, and one more for an end: an array of numbers is sorted fastest.
            arraySort(arrayConcat(
                groupArray(toUnixTimestamp64Micro(fetched_from) * 2),
                groupArray(toUnixTimestamp64Micro(fetched_to) * 2 + 1)
            )) AS times
        FROM {database}.backfill_states
        GROUP BY event, market
    )
)
ARRAY JOIN islands AS island;
