-- Which collectors ran, from when to when, and how did each end?
--
-- A session is one run of a collector. It is live while its last heartbeat is at most 10 seconds old and no later session
-- of the same collector and shard has started; a session that is neither live nor stopped has died.
CREATE OR REPLACE VIEW {database}.sessions
(
    `session_id` String COMMENT 'Session: UUID of one run of a collector',
    `collector` String COMMENT 'Name of the collector',
    `version` String COMMENT 'Version of Chancery',
    `shard` String COMMENT 'Share of the events that it collects',
    `started_at` DateTime64(6, 'UTC') COMMENT 'Time of its first collector event',
    `last_heartbeat_at` DateTime64(6, 'UTC') COMMENT 'Time of its last heartbeat: everything received until then is durable',
    `state` String COMMENT 'live, stopped or died',
    `cause` String COMMENT 'Why it ended, if known',
    `last_frames` Array(Tuple(connection_id String, last_frame_at DateTime64(6, 'UTC'))) COMMENT 'Its connections that were open at the last heartbeat, and until when each is complete: the time of its last frame as a rule'
)
AS
SELECT
    session_id,
    collector,
    version,
    shard,
    started_at,
    last_heartbeat_at,
    multiIf(
        stopped = 1, 'stopped',
        last_heartbeat_at < now64(6, 'UTC') - toIntervalSecond(10) OR max(started_at) OVER (PARTITION BY collector, shard) > last_heartbeat_at, 'died',
        'live'
    ) AS state,
    multiIf(state = 'stopped', concat('the collector stopped: ', stop_cause), state = 'died', 'no further heartbeat of the collector', '') AS cause,
    arrayZip(mapKeys(open_connections), arrayMap(micros -> fromUnixTimestamp64Micro(toInt64(micros), 'UTC'), mapValues(open_connections))) AS last_frames
FROM
(
    SELECT
        session_id,
        toString(max(session_states.collector)) AS collector,
        toString(max(session_states.version)) AS version,
        toString(max(session_states.shard)) AS shard,
        CAST(min(session_states.started_at) AS DateTime64(6, 'UTC')) AS started_at,
        CAST(greatest(max(session_states.last_heartbeat_at), min(session_states.started_at)) AS DateTime64(6, 'UTC')) AS last_heartbeat_at,
        CAST(max(session_states.stopped) AS UInt8) AS stopped,
        toString(max(session_states.stop_cause)) AS stop_cause,
        argMaxMerge(session_states.last_frames) AS open_connections
    FROM {database}.session_states
    GROUP BY session_id
);
