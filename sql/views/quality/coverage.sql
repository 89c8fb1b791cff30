-- When was which event observed on which stream, and why did that end?
--
-- One row per confirmed subscription of a collector, from the collector event `subscribed` (its initial snapshot had been
-- received) to the earliest of: the next collector event of the same session about the event (`unsubscribed`; `stale`, which
-- ends it at last_verified_at, with the cause `diverged` if an audit found other prices; or `subscribed` again); the last
-- frame that was received on its connection, which is the time of `disconnected`; the last heartbeat of its collector,
-- because later frames may not have reached the bus. A collector that died may not have detected that a connection was
-- stale, so its subscriptions end at the last frame of their connection that its last heartbeat names.
-- Times in which records of its partition were lost (lost_periods) are cut out: such a subscription has several rows.
-- Several collectors may observe the same event: observed_ranges merges their rows.
CREATE OR REPLACE VIEW {database}.coverage
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'From this time on, everything that the stream sent about the event was recorded',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'End of the period; for a live subscription, the last heartbeat',
    `state` String COMMENT 'live or ended',
    `cause` String COMMENT 'Why it ended; empty while it is live',
    `markets` Array(String) COMMENT 'Market IDs that were subscribed; for balance asset IDs',
    `session_id` String COMMENT 'Session of the collector',
    `connection_id` String COMMENT 'UUID of the WebSocket connection'
)
AS
-- A constant when the query is planned: where no records were lost, ClickHouse computes nothing of the cuts.
WITH (SELECT groupArray((topic, partition, partitions, begins_at, ends_at, cause)) FROM {database}.lost_periods) AS lost
SELECT
    stream,
    event,
    part.1 AS begins_at,
    part.2 AS ends_at,
    part.3 AS state,
    part.4 AS cause,
    markets,
    session_id,
    connection_id
-- Each step is a subquery of its own: ClickHouse plans nested aliases of one SELECT many times slower.
FROM
(
    SELECT
        stream, event, markets, session_id, connection_id,
        -- The parts before, between and after the cuts; the first one may be empty, so that a gap that begins with it has a cause.
        if(
            notEmpty(lost),
            arrayConcat(
                arrayFilter(
                    (part, number) -> number = 1 OR part.1 < part.2,
                    arrayMap((after, cut) -> (after, greatest(after, cut.4), 'ended', concat('records lost: ', cut.6)), arrayPopBack(part_begins), cuts),
                    arrayEnumerate(cuts)
                ),
                if(empty(cuts) OR last_begins < ends, [(last_begins, ends, toString(final_state), toString(final_cause))], [])
            ),
            [(begins, ends, toString(final_state), toString(final_cause))]
        ) AS parts
    FROM
    (
        SELECT
            *,
            arrayPushFront(arrayMap(number -> arrayMax(arrayMap(cut -> cut.5, arraySlice(cuts, 1, number))), arrayEnumerate(cuts)), begins) AS part_begins,
            arrayMax(arrayPushFront(arrayMap(cut -> cut.5, cuts), begins)) AS last_begins
        FROM
        (
            SELECT
                *,
                -- Its own records, or the collector events of its session. A name that is not ASCII may be on any partition.
                arraySort(period -> (period.4, period.5), arrayFilter(
                    period -> period.4 < ends AND period.5 > begins AND (
                        (period.1 = own_topic AND (period.2 = hashes[1] % greatest(period.3, 1) OR length(event) != lengthUTF8(event)))
                        OR (period.1 = 'chancery.collector-events' AND period.2 = hashes[2] % greatest(period.3, 1))
                    ),
                    lost
                )) AS cuts
            FROM
            (
                SELECT
                    *,
                    transform(stream, {streams}, {stream_topics}, '') AS own_topic,
                    -- The hash by which the bus chooses the partition of a key: FNV-1a with the finalizer of MurmurHash3.
                    arrayMap(hash -> toUInt32(bitXor(hash, bitShiftRight(hash, 16))), arrayMap(
                        hash -> toUInt32(bitXor(hash, bitShiftRight(hash, 13)) * 3266489909), arrayMap(
                            hash -> toUInt32(bitXor(hash, bitShiftRight(hash, 16)) * 2246822507), arrayMap(
                                key -> arrayFold((hash, i) -> toUInt32(bitXor(hash, toUInt32(reinterpretAsUInt8(substring(key, i, 1)))) * 16777619), range(1, length(key) + 1), toUInt32(2166136261)),
                                if(empty(lost), [], [event, session_id])
                            )
                        )
                    )) AS hashes,
                    multiIf(
                        final_state = 'live', '',
                        own_end <= lost_at AND own_end <= known_to, if(next_type = 'subscribed', 'subscribed again', if(next_type = 'stale' AND next_cause = 'diverged', next_cause, concat(next_type, ': ', next_cause))),
                        lost_at <= known_to, lost_cause,
                        session_cause
                    ) AS final_cause
                FROM
                (
                    SELECT
                        *,
                        greatest(begins, least(own_end, lost_at, known_to)) AS ends,
                        if(session_state = 'live' AND least(own_end, lost_at) > last_heartbeat_at, 'live', 'ended') AS final_state
                    FROM
                    (
                        SELECT
                            stream,
                            event,
                            begins_at AS begins,
                            own_end,
                            next_type,
                            next_cause,
                            if(lost_cause = '', toDateTime64('2299-12-31 00:00:00', 6, 'UTC'), disconnected_at) AS lost_at,
                            lost_cause,
                            last_heartbeat_at,
                            if(session_state = 'died' AND arrayExists(frame -> frame.1 = connection_id, last_frames), least(last_heartbeat_at, arrayFirst(frame -> frame.1 = connection_id, last_frames).2), last_heartbeat_at) AS known_to,
                            session_state,
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
                                toDateTime64(toDateTime64(recorded_at, 3, 'UTC'), 6, 'UTC') AS begins_at,
                                leadInFrame(type, 1, '') OVER later AS next_type,
                                leadInFrame(if(type = 'stale', assumeNotNull(last_verified_at), recorded_at), 1, toDateTime64('2299-12-31 00:00:00', 6, 'UTC')) OVER later AS own_end,
                                leadInFrame(cause, 1, '') OVER later AS next_cause
                            FROM {database}.collector_events
                            WHERE type IN ('subscribed', 'unsubscribed', 'stale')
                            WINDOW later AS (PARTITION BY session_id, stream, event ORDER BY sequence ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
                        ) AS subscriptions
                        LEFT JOIN
                        (
                            SELECT session_id, last_heartbeat_at, last_frames, state AS session_state, cause AS session_cause
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
                    )
                )
            )
        )
    )
)
ARRAY JOIN parts AS part;
