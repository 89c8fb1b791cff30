-- From when to when was each event open, and which parts of that were observed?
--
-- The basis of gaps, coverage_by_event and, through completeness_ranges, the completeness of candles: one row per stream and
-- event that event search listed or that was ever observed. An event is open until event search last listed it, or until now
-- while it is open. If its subscription ended for another reason than that it had closed, it may have changed until the end
-- of the first complete poll of event search that did not list it: it is open until then, if that was within an hour. After a
-- longer time without polls nothing is known. It is open from the latest of:
--   - its creation, by the exchange, where event search says it;
--   - the start of the first session;
--   - the start of the last complete poll of event search that did not list it (it may open while the poll runs). A poll in the
--     first five minutes after its creation counts only where the creation is not known: its responses may have been old;
-- but not later than event search first listed it or its first subscription was confirmed, as the exchange has another
-- clock. An account or a feed is not listed: it counts as open from its first range to the end of its last.
CREATE OR REPLACE VIEW {database}.event_lifetimes
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `title` Nullable(String) COMMENT 'Title of the event; NULL for orders, balance and feed',
    `open_from` DateTime64(6, 'UTC') COMMENT 'When it opened: latest of its creation, the start of the first session, and the start of the last complete search that did not list it',
    `open_to` DateTime64(6, 'UTC') COMMENT 'When it was last listed, or observed if it was never listed; the end of the first complete search that did not list it, if it was not observed until it closed; now, while it is open',
    `open` Bool COMMENT 'Whether event search lists it; false for orders, balance and feed',
    `observed_ranges` Array(Tuple(begins_at DateTime64(6, 'UTC'), ends_at DateTime64(6, 'UTC'), cause String)) COMMENT 'Ranges in which it was observed, in order, with the cause of the end of each',
    `live` Bool COMMENT 'Whether it is being observed',
    `markets` UInt64 COMMENT 'Number of its markets in event search'
)
AS
WITH
    assumeNotNull((SELECT CAST(min(session_states.started_at) AS DateTime64(6, 'UTC')) FROM {database}.session_states)) AS recorded_from,
    multiIf(first_seen_at = 0, observed_from, observed_from = 0, first_seen_at, least(first_seen_at, observed_from)) AS known_from,
    ifNull(not_listed_at >= created_at AND not_listed_at <= created_at + toIntervalMinute(5), false) AS may_be_old,
    startsWith(observed_ranges[-1].3, 'unsubscribed') AS unsubscribed,
    -- The complete searches: all in the hours in which an event was first or last seen, and the last one of every hour.
    searches AS
    (
        SELECT 'event-search' AS operation, finished_at, started_at
        FROM {database}.polls
        WHERE polls.operation = 'event-search' AND outcome = 'complete' AND toStartOfHour(finished_at) GLOBAL IN (
            SELECT arrayJoin([toStartOfHour(first_seen_at), toStartOfHour(last_seen_at), toStartOfHour(last_seen_at) + toIntervalHour(1)]) FROM {database}.event_states
        )
        UNION ALL
        SELECT 'event-search' AS operation, last_poll.1 AS finished_at, last_poll.2 AS started_at
        FROM {database}.poll_hours
        WHERE poll_hours.operation = 'event-search'
    )
SELECT
    stream,
    event,
    title,
    if(first_seen_at = 0 OR recorded_from = 0, known_from, least(known_from, greatest(recorded_from, if(may_be_old, recorded_from, not_listed_at), ifNull(created_at, recorded_from)))) AS open_from,
    multiIf(is_open, now64(6, 'UTC'), last_seen_at = 0, observed_to, unsubscribed OR unlisted_at > last_seen_at + toIntervalHour(1), last_seen_at, greatest(last_seen_at, unlisted_at)) AS open_to,
    is_open AS open,
    observed_ranges,
    live,
    market_count AS markets
FROM
(
    -- Not joins, which ClickHouse plans slowly.
    SELECT
        stream,
        event,
        max(parts.title) AS title,
        max(parts.first_seen_at) AS first_seen_at,
        max(parts.last_seen_at) AS last_seen_at,
        max(parts.created_at) AS created_at,
        max(parts.is_open) AS is_open,
        max(parts.market_count) AS market_count,
        max(parts.not_listed_at) AS not_listed_at,
        max(parts.unlisted_at) AS unlisted_at,
        groupArrayArray(parts.ranges) AS ranges,
        arrayMap(range -> (range.1, range.2, range.4), ranges) AS observed_ranges,
        ranges[1].1 AS observed_from,
        ranges[-1].2 AS observed_to,
        toBool(arrayExists(range -> range.3 = 'live', ranges)) AS live
    FROM
    (
        SELECT
            arrayJoin({event_streams}) AS stream, event, title, first_seen_at, last_seen_at, created_at, is_open, market_count,
            searches.started_at AS not_listed_at, later_searches.finished_at AS unlisted_at,
            CAST([], 'Array(Tuple(begins_at DateTime64(6, \'UTC\'), ends_at DateTime64(6, \'UTC\'), state String, cause String))') AS ranges
        FROM
        (
            SELECT event, title, first_seen_at, last_seen_at, created_at, open AS is_open, length(markets) AS market_count, 'event-search' AS operation
            FROM {database}.events
        ) AS listed_events
        ASOF LEFT JOIN searches ON listed_events.operation = searches.operation AND listed_events.first_seen_at >= searches.finished_at
        ASOF LEFT JOIN searches AS later_searches ON listed_events.operation = later_searches.operation AND listed_events.last_seen_at < later_searches.started_at
        UNION ALL
        SELECT
            stream, event, NULL AS title, toDateTime64(0, 6, 'UTC') AS first_seen_at, toDateTime64(0, 6, 'UTC') AS last_seen_at, NULL AS created_at, false AS is_open,
            toUInt64(0) AS market_count, toDateTime64(0, 6, 'UTC') AS not_listed_at, toDateTime64(0, 6, 'UTC') AS unlisted_at,
            ranges
        FROM {database}.merged_coverage
    ) AS parts
    GROUP BY stream, event
);
