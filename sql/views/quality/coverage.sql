-- When was which event observed on which stream, and why did that end?
--
-- One row per confirmed subscription of a collector, from the collector event `subscribed` (its first state had been
-- received) to the earliest of: the next collector event of the same session about the event (`unsubscribed`; `stale`, which
-- ends it at last_verified_at; or `subscribed` again); the collector event `disconnected` of its connection; the last
-- heartbeat of its collector, because later frames may not have reached the bus.
-- Several collectors may observe the same event: observed_ranges merges their rows.
CREATE OR REPLACE VIEW {database}.coverage
(
    `stream` String COMMENT 'order-book or chance',
    `event` String COMMENT 'Event ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'From when on everything that the stream sent about the event was recorded',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'Until when; for a live subscription the last heartbeat',
    `state` String COMMENT 'live or ended',
    `cause` String COMMENT 'Why it ended; empty while it is live',
    `markets` Array(String) COMMENT 'Market IDs that were subscribed',
    `session_id` String COMMENT 'Session of the collector',
    `connection_id` String COMMENT 'UUID of the WebSocket connection'
)
AS
SELECT
    stream,
    event,
    begins_at,
    greatest(begins_at, least(own_end, lost_at, last_heartbeat_at)) AS ends_at,
    if(least(own_end, lost_at) > last_heartbeat_at AND session_state = 'live', 'live', 'ended') AS state,
    multiIf(
        state = 'live', '',
        own_end <= lost_at AND own_end <= last_heartbeat_at, own_cause,
        lost_at <= last_heartbeat_at, lost_cause,
        session_cause
    ) AS cause,
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
        -- Ticks carry whole milliseconds: those of the first state must not lie before it.
        toDateTime64(toDateTime64(recorded_at, 3, 'UTC'), 6, 'UTC') AS begins_at,
        leadInFrame(type, 1, '') OVER later AS next_type,
        leadInFrame(if(type = 'stale', assumeNotNull(last_verified_at), recorded_at), 1, toDateTime64('2299-12-31 00:00:00', 6, 'UTC')) OVER later AS own_end,
        if(next_type = 'subscribed', 'subscribed again', concat(next_type, ': ', leadInFrame(cause, 1, '') OVER later)) AS own_cause
    FROM {database}.collector_events
    WHERE type IN ('subscribed', 'unsubscribed', 'stale')
    WINDOW later AS (PARTITION BY session_id, stream, event ORDER BY sequence ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
) AS subscriptions
LEFT JOIN
(
    SELECT session_id, last_heartbeat_at, state AS session_state, cause AS session_cause
    FROM {database}.sessions
) AS collectors USING (session_id)
LEFT JOIN
(
    SELECT
        session_id,
        connection_id,
        min(recorded_at) AS disconnected_at,
        concat('disconnected: ', argMin(cause, sequence)) AS lost_cause
    FROM {database}.collector_events
    WHERE type = 'disconnected'
    GROUP BY session_id, connection_id
) AS losses USING (session_id, connection_id)
ARRAY JOIN [if(lost_cause = '', toDateTime64('2299-12-31 00:00:00', 6, 'UTC'), disconnected_at)] AS lost_at
WHERE type = 'subscribed';
