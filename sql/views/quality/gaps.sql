-- When was an open event not observed, why, and how much of that was backfilled?
--
-- The times between the ranges in which an event was observed, while it was open. Chance gaps are backfilled from history:
-- backfilled_seconds is the mean over the event's markets of the fetched seconds of the gap. Order book gaps cannot be
-- backfilled.
CREATE OR REPLACE VIEW {database}.gaps
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `title` Nullable(String) COMMENT 'Title of the event; NULL for orders, balance and feed',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the gap',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'End of the gap; now, while it lasts',
    `seconds` Float64 COMMENT 'Length of the gap',
    `cause` String COMMENT 'Why the event was not observed',
    `backfill` String COMMENT 'history or none',
    `backfilled_seconds` Float64 COMMENT 'Backfilled seconds of it',
    `missing_seconds` Float64 COMMENT 'seconds - backfilled_seconds'
)
AS
SELECT
    stream,
    event,
    title,
    gap.1 AS begins_at,
    gap.2 AS ends_at,
    dateDiff('microsecond', begins_at, ends_at) / 1e6 AS seconds,
    gap.3 AS cause,
    if(backfilled_seconds > 0, 'history', 'none') AS backfill,
    -- Rounded to microseconds, so that nothing is missing of a gap that is backfilled as a whole.
    round(gap.4, 6) AS backfilled_seconds,
    round(seconds - backfilled_seconds, 6) AS missing_seconds
FROM {database}.event_gaps AS missed
ARRAY JOIN missed_ranges AS gap;
