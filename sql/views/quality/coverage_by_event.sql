-- How complete is the recording of each event?
--
-- Over the time that the event was open:
--   observed   = seconds observed / seconds open
--   backfilled = seconds of gaps that were fetched from history, mean over the event's markets / seconds open
--   missing    = 1 - observed - backfilled
-- While the event is being observed, the time since the last heartbeat counts as observed.
CREATE OR REPLACE VIEW {database}.coverage_by_event
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `title` Nullable(String) COMMENT 'Title of the event; NULL for orders, balance and feed',
    `open` Bool COMMENT 'Whether event search lists it; false for orders, balance and feed',
    `live` Bool COMMENT 'Whether it is being observed',
    `open_from` DateTime64(6, 'UTC') COMMENT 'When it opened: see event_lifetimes',
    `open_to` DateTime64(6, 'UTC') COMMENT 'When it closed: see event_lifetimes; now, while it is open',
    `open_seconds` Float64 COMMENT 'Seconds from open_from to open_to',
    `gaps` UInt64 COMMENT 'Number of periods in which it was not observed',
    `gap_seconds` Float64 COMMENT 'Seconds in which it was not observed',
    `backfilled_seconds` Float64 COMMENT 'Seconds of these gaps that were fetched from history',
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
    open_seconds,
    gap_count AS gaps,
    gap_seconds,
    backfilled_seconds,
    if(open_seconds > 0, 1 - gap_seconds / open_seconds, 1) AS observed,
    if(open_seconds > 0, backfilled_seconds / open_seconds, 0) AS backfilled,
    if(open_seconds > 0, (gap_seconds - backfilled_seconds) / open_seconds, 0) AS missing
FROM
(
    SELECT
        stream, event, title, open, live, open_from, open_to,
        length(missed_ranges) AS gap_count,
        dateDiff('microsecond', open_from, open_to) / 1e6 AS open_seconds,
        -- The parts of a query evaluate now() at different moments, which would be visible for an event that has just opened.
        least(arraySum(gap -> dateDiff('microsecond', gap.1, gap.2), missed_ranges) / 1e6, open_seconds) AS gap_seconds,
        least(arraySum(gap -> gap.4, missed_ranges), gap_seconds) AS backfilled_seconds
    FROM {database}.event_gaps AS missed
);
