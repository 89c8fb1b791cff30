-- From when to when was each event open, and which parts of that were observed?
--
-- The basis of gaps, coverage_by_event and, through completeness_ranges, the completeness of candles: one row per stream and
-- event that event search listed or that was ever observed. An event is open from when event search first listed it (or
-- its first subscription was confirmed) until event search no longer listed it, or until now while it is open.
CREATE OR REPLACE VIEW {database}.event_lifetimes
(
    `stream` String COMMENT 'order-book or chance',
    `event` String COMMENT 'Event ID',
    `open_from` DateTime64(6, 'UTC') COMMENT 'When it was first seen',
    `open_to` DateTime64(6, 'UTC') COMMENT 'When it was last seen; now, while it is open',
    `open` Bool COMMENT 'Whether it is open',
    `covered` Array(Tuple(begins_at DateTime64(6, 'UTC'), ends_at DateTime64(6, 'UTC'), cause String)) COMMENT 'Ranges in which it was observed, in order, with why each ended',
    `live` Bool COMMENT 'Whether it is being observed',
    `markets` UInt64 COMMENT 'How many markets event search showed of it'
)
AS
SELECT
    stream,
    event,
    multiIf(first_seen_at = 0, covered_from, covered_from = 0, first_seen_at, least(first_seen_at, covered_from)) AS open_from,
    multiIf(is_open, now64(6, 'UTC'), last_seen_at = 0, covered_to, last_seen_at) AS open_to,
    is_open AS open,
    covered,
    live,
    market_count AS markets
FROM
(
    SELECT DISTINCT stream, event
    FROM
    (
        SELECT arrayJoin(['order-book', 'chance']) AS stream, event FROM {database}.event_states
        UNION ALL
        SELECT stream, event FROM {database}.collector_events WHERE type = 'subscribed'
    )
) AS observed
LEFT JOIN
(
    SELECT event, first_seen_at, last_seen_at, open AS is_open, length(markets) AS market_count
    FROM {database}.events
) AS known USING (event)
LEFT JOIN
(
    SELECT
        stream,
        event,
        arraySort(groupArray((begins_at, ends_at, cause))) AS covered,
        min(begins_at) AS covered_from,
        max(ends_at) AS covered_to,
        toBool(max(state = 'live')) AS live
    FROM {database}.observed_ranges
    GROUP BY stream, event
) AS seen USING (stream, event);
