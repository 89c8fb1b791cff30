-- Which times of each event were not observed while it was open, as one array?
--
-- The basis of gaps and coverage_by_event: the rows of event_lifetimes with the times between the ranges in which the event was
-- observed. backfilled_seconds of a gap is the mean over the event's markets of its seconds that were fetched from chance
-- history. Order book gaps cannot be backfilled.
CREATE OR REPLACE VIEW {database}.event_gaps
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `title` Nullable(String) COMMENT 'Title of the event; NULL for orders, balance and feed',
    `open_from` DateTime64(6, 'UTC') COMMENT 'When it opened: see event_lifetimes',
    `open_to` DateTime64(6, 'UTC') COMMENT 'When it closed: see event_lifetimes; now, while it is open',
    `open` Bool COMMENT 'Whether event search lists it; false for orders, balance and feed',
    `live` Bool COMMENT 'Whether it is being observed',
    `missed_ranges` Array(Tuple(begins_at DateTime64(6, 'UTC'), ends_at DateTime64(6, 'UTC'), cause String, backfilled_seconds Float64)) COMMENT 'The gaps, in order, and how many seconds of each were backfilled; the last one ends now, while it lasts'
)
AS
SELECT
    stream,
    event,
    title,
    open_from,
    open_to,
    open,
    live,
    arrayMap(
        gap -> (
            gap.1,
            gap.2,
            gap.3,
            -- The lambda gets a copy of every array for each gap, so these have numbers only.
            arraySum((from, to) -> greatest(0, least(to, toUnixTimestamp64Micro(gap.2)) - greatest(from, toUnixTimestamp64Micro(gap.1))), backfilled_from, backfilled_to) / 1e6 / markets
        ),
        -- Only the range of a live subscription has no cause: records after its last heartbeat are in transit, not a gap.
        arrayFilter(candidate -> candidate.1 < candidate.2 AND candidate.3 != '', candidates)
    ) AS missed_ranges
FROM
(
    SELECT
        stream,
        event,
        title,
        open_from,
        open_to,
        open,
        live,
        if(stream = 'chance', arrayMap(range -> toUnixTimestamp64Micro(range.2), fetched_ranges), []) AS backfilled_from,
        if(stream = 'chance', arrayMap(range -> toUnixTimestamp64Micro(range.3), fetched_ranges), []) AS backfilled_to,
        greatest(lifetimes.markets, length(arrayDistinct(arrayMap(range -> range.1, fetched_ranges))), 1) AS markets,
        arrayZip(
            arrayPushFront(arrayMap(range -> range.2, observed_ranges), open_from),
            arrayPushBack(arrayMap(range -> range.1, observed_ranges), open_to),
            arrayPushFront(arrayMap(range -> range.3, observed_ranges), 'not yet subscribed')
        ) AS candidates
    FROM {database}.event_lifetimes AS lifetimes
    LEFT JOIN
    (
        SELECT event, groupArray((market, begins_at, ends_at)) AS fetched_ranges
        FROM {database}.backfilled_ranges
        GROUP BY event
    ) AS fetched USING (event)
);
