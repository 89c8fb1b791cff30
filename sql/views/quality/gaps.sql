-- When was an open event not observed, why, and how much of that was backfilled?
--
-- The times between the ranges in which an event was observed, while it was open. Chance gaps are backfilled from history:
-- backfilled_seconds is the mean over the event's markets of the fetched seconds of the gap. Order book gaps cannot be
-- backfilled.
CREATE OR REPLACE VIEW {database}.gaps
(
    `stream` String COMMENT 'order-book or chance',
    `event` String COMMENT 'Event ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the gap',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'End of the gap; now, while it lasts',
    `seconds` Float64 COMMENT 'Length of the gap',
    `cause` String COMMENT 'Why the event was not observed',
    `backfill` String COMMENT 'history or none',
    `backfilled_seconds` Float64 COMMENT 'How much of it was backfilled',
    `missing_seconds` Float64 COMMENT 'seconds - backfilled_seconds'
)
AS
SELECT
    stream,
    event,
    gap.1 AS begins_at,
    gap.2 AS ends_at,
    dateDiff('microsecond', begins_at, ends_at) / 1e6 AS seconds,
    gap.3 AS cause,
    if(backfilled_seconds > 0, 'history', 'none') AS backfill,
    arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.2, gap.1), least(range.3, gap.2))), backfilled) / 1e6 / greatest(markets, 1) AS backfilled_seconds,
    seconds - backfilled_seconds AS missing_seconds
FROM
(
    SELECT
        stream,
        event,
        if(stream = 'chance', fetched_ranges, []) AS backfilled,
        greatest(lifetimes.markets, length(arrayDistinct(arrayMap(range -> range.1, fetched_ranges)))) AS markets,
        arrayZip(
            arrayPushFront(arrayMap(range -> range.2, covered), open_from),
            arrayPushBack(arrayMap(range -> range.1, covered), open_to),
            arrayPushFront(arrayMap(range -> range.3, covered), 'not yet subscribed')
        ) AS candidates
    FROM {database}.event_lifetimes AS lifetimes
    LEFT JOIN
    (
        SELECT event, groupArray((market, begins_at, ends_at)) AS fetched_ranges
        FROM {database}.backfilled_ranges
        GROUP BY event
    ) AS fetched USING (event)
)
-- Only the range of a live subscription has no cause: records after its last heartbeat are in transit, not a gap.
ARRAY JOIN arrayFilter(candidate -> candidate.1 < candidate.2 AND candidate.3 != '', candidates) AS gap;
