-- In which ranges was an event observed by any collector, as one array?
--
-- The basis of observed_ranges and event_lifetimes: the rows of coverage of one stream and event, merged where they overlap or touch.
CREATE OR REPLACE VIEW {database}.merged_coverage
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `ranges` Array(Tuple(begins_at DateTime64(6, 'UTC'), ends_at DateTime64(6, 'UTC'), state String, cause String)) COMMENT 'The ranges, in order, without overlaps; state and cause as in observed_ranges'
)
AS
-- Not window functions, which sort all rows. A lambda gets a copy of every array outside of it for each element, so these are short.
SELECT
    stream,
    event,
    arrayMap(
        (first, last, live) -> (
            fromUnixTimestamp64Micro(toInt64(bitShiftRight(first, 25)), 'UTC'),
            fromUnixTimestamp64Micro(toInt64(bitShiftRight(last, 25)), 'UTC'),
            if(live, 'live', 'ended'),
            if(live, '', distinct_causes[toUInt32(bitAnd(last, 16777215))])
        ),
        firsts,
        lasts,
        arrayMap((first, last) -> arrayExists(begins -> begins BETWEEN first AND last, live_begins), firsts, lasts)
    ) AS ranges
FROM
(
    SELECT
        stream,
        event,
        distinct_causes,
        live_begins,
        -- A range begins where the number of open ranges becomes 1, and ends where it becomes 0.
        arrayCumSum(bound -> if(bitAnd(bound, 16777216) = 0, 1, -1), bounds) AS open_ranges,
        arrayFilter((bound, number) -> number = 1 AND bitAnd(bound, 16777216) = 0, bounds, open_ranges) AS firsts,
        arrayFilter((bound, number) -> number = 0, bounds, open_ranges) AS lasts
    FROM
    (
        SELECT
            stream,
            event,
            groupArray(cause) AS causes,
            arrayDistinct(causes) AS distinct_causes,
            groupArrayIf(toInt128(toUnixTimestamp64Micro(begins_at)) * 33554432, state = 'live') AS live_begins,
            -- Twice the microseconds of a beginning, and one more for an end; then 24 bits for the number of its cause. Not divisions, because those of Int128 are slow.
            arraySort(arrayConcat(
                groupArray(toInt128(toUnixTimestamp64Micro(begins_at)) * 33554432),
                arrayMap((bound, number) -> bound + number, groupArray(toInt128(toUnixTimestamp64Micro(ends_at)) * 33554432 + 16777216), arrayEnumerateDense(causes))
            )) AS bounds
        FROM {database}.coverage
        GROUP BY stream, event
    )
);
