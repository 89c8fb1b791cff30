-- Which events exist, and which of them are open?
--
-- The last observation of every event that event search ever listed. An event is open while the latest complete poll of
-- event search lists it: it leaves the search when all its markets are resolved. The receipt of a poll may arrive before
-- its pages, which are on another topic: a poll counts only after as many events as it found have been seen since it
-- started, or after something has been seen that is newer than its end.
CREATE OR REPLACE VIEW {database}.events
(
    `event` String COMMENT 'Event ID',
    `title` Nullable(String) COMMENT 'Title of the event',
    `slug` Nullable(String) COMMENT 'Short name in addresses',
    `category` Nullable(String) COMMENT 'Category, as sent by the exchange',
    `tags` Array(String) COMMENT 'Names of the tags',
    `created_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the event was opened, by the exchange',
    `closes_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When trading is planned to end, by the exchange',
    `markets` Array(String) COMMENT 'Market IDs',
    `volume_24h` Nullable(Float64) COMMENT 'Volume of the last 24 hours in USDC, by the exchange',
    `total_volume` Nullable(Float64) COMMENT 'Volume since the event was opened in USDC, by the exchange',
    `liquidity` Nullable(Float64) COMMENT 'Liquidity in USDC, by the exchange',
    `first_seen_at` DateTime64(6, 'UTC') COMMENT 'When event search first listed it',
    `last_seen_at` DateTime64(6, 'UTC') COMMENT 'When event search last listed it',
    `open` Bool COMMENT 'Whether the latest complete poll of event search lists it'
)
AS
WITH
    (SELECT groupArray(seen_at) FROM (SELECT max(event_states.last_seen_at) AS seen_at FROM {database}.event_states GROUP BY event)) AS seen,
    arrayMax(seen) AS latest_page,
    -- In hours that ended before the latest page, every poll counts.
    (SELECT max(poll_hours.last_started_at) FROM {database}.poll_hours WHERE operation = 'event-search' AND begins_at < toStartOfHour(latest_page)) AS earlier_poll,
    (
        SELECT max(started_at)
        FROM {database}.polls
        WHERE operation = 'event-search' AND outcome = 'complete' AND finished_at >= toStartOfHour(latest_page)
            AND (received_items = 0 OR finished_at < latest_page OR (started_at <= latest_page AND arrayCount(page_at -> page_at >= started_at, seen) >= distinct_items))
    ) AS later_poll
SELECT
    event,
    state.title AS title,
    state.slug AS slug,
    state.category AS category,
    state.tags AS tags,
    state.created_at AS created_at,
    state.closes_at AS closes_at,
    state.markets AS markets,
    state.volume_24h AS volume_24h,
    state.total_volume AS total_volume,
    state.liquidity AS liquidity,
    first_seen_at,
    last_seen_at,
    toBool(last_seen_at >= earlier_poll AND last_seen_at >= later_poll) AS open
FROM
(
    SELECT
        event,
        CAST(min(event_states.first_seen_at) AS DateTime64(6, 'UTC')) AS first_seen_at,
        CAST(max(event_states.last_seen_at) AS DateTime64(6, 'UTC')) AS last_seen_at,
        argMaxMerge(latest) AS state
    FROM {database}.event_states
    GROUP BY event
);
