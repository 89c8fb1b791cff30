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
WITH (
    SELECT arraySort(groupArray((begins_at, ends_at, 'ended', concat('records lost: ', cause), topic, partition, partitions)))
    FROM {database}.lost_periods
) AS lost
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
FROM
(
    SELECT
        stream, event, markets, session_id, connection_id,
        -- The parts before, between and after the cuts; the first one may be empty, so that a gap that begins with it has a cause.
        if(
            notEmpty(lost),
            arrayFilter(
                (part, number) -> number = 1 OR part.1 < part.2,
                arrayMap(
                    (cut, number) -> (arrayMax(arrayPushFront(arrayMap(earlier -> earlier.2, arraySlice(cuts, 1, number - 1)), begins)), greatest(begins, cut.1), cut.3, cut.4),
                    cuts,
                    arrayEnumerate(cuts)
                ),
                arrayEnumerate(cuts)
            ),
            [(begins, ends, final_state, final_cause)]
        ) AS parts
    FROM
    (
        SELECT
            stream, event, markets, session_id, connection_id, begins, ends, final_state, final_cause,
            -- Its own records, or the collector events of its session. A name that is not ASCII may be on any partition.
            -- The end of the subscription is the last cut.
            arrayPushBack(
                arrayFilter(
                    period -> period.1 < ends AND period.2 > begins AND (
                        (period.5 = own_topic AND (period.6 = hashes[1] % greatest(period.7, 1) OR length(event) != lengthUTF8(event)))
                        OR (period.5 = 'chancery.collector-events' AND period.6 = hashes[2] % greatest(period.7, 1))
                    ),
                    lost
                ),
                (ends, ends, final_state, final_cause, '', toUInt32(0), toUInt32(0))
            ) AS cuts
        FROM
        (
            SELECT
                stream, event, markets, session_id, connection_id,
                subscriptions.begins_at AS begins, subscriptions.ends_at AS ends, subscriptions.state AS final_state, subscriptions.cause AS final_cause,
                transform(stream, {streams}, {stream_topics}, '') AS own_topic,
                -- The hash by which the bus chooses the partition of a key: FNV-1a with the finalizer of MurmurHash3.
                arrayMap(
                    key -> arrayFold(
                        (hash, step) -> toUInt32(bitXor(hash, bitShiftRight(hash, step.1)) * step.2),
                        [(16, 2246822507), (13, 3266489909), (16, 1)],
                        arrayFold((hash, i) -> toUInt32(bitXor(hash, toUInt32(reinterpretAsUInt8(substring(key, i, 1)))) * 16777619), range(1, length(key) + 1), toUInt32(2166136261))
                    ),
                    if(empty(lost), [], [event, session_id])
                ) AS hashes
            FROM {database}.subscriptions
        )
    )
)
ARRAY JOIN parts AS part;
