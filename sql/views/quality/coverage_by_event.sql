-- How complete is the recording of each event?
--
-- Over the time that the event was open:
--   observed   = seconds observed / seconds open
--   backfilled = seconds of gaps that were fetched from history, mean over the event's markets / seconds open
--   missing    = 1 - observed - backfilled
-- While the event is being observed, the time since the last heartbeat counts as observed.
CREATE OR REPLACE VIEW {database}.coverage_by_event
(
    `stream` String COMMENT 'order-book or chance',
    `event` String COMMENT 'Event ID',
    `title` Nullable(String) COMMENT 'Title of the event',
    `open` Bool COMMENT 'Whether the event is open',
    `live` Bool COMMENT 'Whether it is being observed',
    `open_from` DateTime64(6, 'UTC') COMMENT 'When it was first seen',
    `open_to` DateTime64(6, 'UTC') COMMENT 'When it was last seen; now, while it is open',
    `open_seconds` Float64 COMMENT 'Seconds from open_from to open_to',
    `gaps` UInt64 COMMENT 'How many times it was not observed',
    `gap_seconds` Float64 COMMENT 'Seconds in which it was not observed',
    `backfilled_seconds` Float64 COMMENT 'Seconds of those that were fetched from history',
    `observed` Float64 COMMENT 'Fraction of the open time in which it was observed, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the open time that was fetched from history, 0 to 1',
    `missing` Float64 COMMENT 'Fraction of the open time that was neither observed nor backfilled, 0 to 1'
)
AS
SELECT
    stream,
    event,
    title,
    open,
    live,
    open_from,
    open_to,
    dateDiff('microsecond', open_from, open_to) / 1e6 AS open_seconds,
    gap_count AS gaps,
    -- The parts of a query do not take the time at the same moment: of an event that opened just now, that would show.
    least(not_observed, open_seconds) AS gap_seconds,
    least(fetched, gap_seconds) AS backfilled_seconds,
    if(open_seconds > 0, 1 - gap_seconds / open_seconds, 1) AS observed,
    if(open_seconds > 0, backfilled_seconds / open_seconds, 0) AS backfilled,
    if(open_seconds > 0, (gap_seconds - backfilled_seconds) / open_seconds, 0) AS missing
FROM
(
    SELECT stream, event, open, live, open_from, open_to
    FROM {database}.event_lifetimes
) AS lifetimes
LEFT JOIN
(
    SELECT stream, event, count() AS gap_count, sum(seconds) AS not_observed, sum(gaps.backfilled_seconds) AS fetched
    FROM {database}.gaps
    GROUP BY stream, event
) AS missed USING (stream, event)
LEFT JOIN
(
    SELECT event, title
    FROM {database}.events
) AS names USING (event);
