-- Which events was a collector subscribed to, from when to when, and why did that end?
--
-- The basis of coverage, which has the rules: one row per confirmed subscription, before the times in which its records were lost
-- are cut out.
CREATE OR REPLACE VIEW {database}.subscriptions
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'When it was confirmed: its initial snapshot had been received',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'When it ended; for a live subscription, the last heartbeat',
    `state` String COMMENT 'live or ended',
    `cause` String COMMENT 'Why it ended; empty while it is live',
    `markets` Array(String) COMMENT 'Market IDs that were subscribed; for balance asset IDs',
    `session_id` String COMMENT 'Session of the collector',
    `connection_id` String COMMENT 'UUID of the WebSocket connection'
)
AS
-- Conditions stand in the innermost subquery that has their columns: ClickHouse plans an expression above joins many times slower.
SELECT
    stream,
    event,
    begins AS begins_at,
    greatest(begins, least(own_end, lost_at, known_to)) AS ends_at,
    if(session_is_live AND least(own_end, lost_at) > known_to, 'live', 'ended') AS state,
    -- That of a live session is empty.
    multiIf(least(own_end, lost_at) > known_to, session_cause, own_end <= lost_at, own_cause, lost_cause) AS cause,
    markets,
    session_id,
    connection_id
FROM
(
    SELECT
        stream,
        event,
        begins,
        own_end,
        own_cause,
        if(lost_cause = '', toDateTime64('2299-12-31 00:00:00', 6, 'UTC'), disconnected_at) AS lost_at,
        lost_cause,
        arrayMin(frame -> if(frame.1 = connection_id, frame.2, last_heartbeat_at), known_frames) AS known_to,
        session_is_live,
        session_cause,
        markets,
        session_id,
        connection_id
    FROM
    (
        SELECT
            stream,
            event,
            session_id,
            connection_id,
            markets,
            type,
            -- Ticks have whole milliseconds: those of the initial snapshot must not be before it.
            toDateTime64(toDateTime64(recorded_at, 3, 'UTC'), 6, 'UTC') AS begins,
            leadInFrame(if(type = 'stale', assumeNotNull(last_verified_at), recorded_at), 1, toDateTime64('2299-12-31 00:00:00', 6, 'UTC')) OVER later AS own_end,
            leadInFrame(multiIf(type = 'subscribed', 'subscribed again', type = 'stale' AND cause = 'diverged', cause, concat(type, ': ', cause)), 1, '') OVER later AS own_cause
        FROM {database}.collector_events
        WHERE type IN ('subscribed', 'unsubscribed', 'stale')
        WINDOW later AS (PARTITION BY session_id, stream, event ORDER BY sequence ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
    ) AS own
    LEFT JOIN
    (
        SELECT
            session_id,
            last_heartbeat_at,
            state = 'live' AS session_is_live,
            cause AS session_cause,
            -- The one without a connection is for all that are not listed.
            arrayPushBack(if(state = 'died', last_frames, []), ('', last_heartbeat_at)) AS known_frames
        FROM {database}.sessions
    ) AS collectors USING (session_id)
    LEFT JOIN
    (
        SELECT
            session_id,
            connection_id,
            min(recorded_at) AS disconnected_at,
            if(argMin(cause, sequence) = 'frame too large', 'frame too large', concat('disconnected: ', argMin(cause, sequence))) AS lost_cause
        FROM {database}.collector_events
        WHERE type = 'disconnected'
        GROUP BY session_id, connection_id
    ) AS losses USING (session_id, connection_id)
    WHERE type = 'subscribed'
);
