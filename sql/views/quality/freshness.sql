-- How old is the newest data that passed each hop of the pipeline: exchange to collector, collector to bus, bus to row?
--
-- One row per collector, shard, topic and hop. A collector is listed until it is stopped, or an hour after its last heartbeat.
-- newest_at is a time of the collector's clock; age_seconds compares it with the clock of ClickHouse.
--   exchange to collector: the newest frame, as the last heartbeat states it. Of several connections of a stream it is that of
--     the one that has been silent longest, of several streams of a topic the newest. Topics without a stream have no such row: see
--     polls_between. Delay: from the exchange's time of live chances to our time of receipt, in the last 5 minutes, by any collector. The
--     exchange counts whole seconds, so it is up to 1 s too long. Frames of other streams have no time of the exchange: NULL.
--   collector to bus: the last heartbeat. What the collector received until then is durable on the bus. Its delay is not known.
--   bus to row: the newest heartbeat up to which no record of the topic is missing in raw_records. It compares the sequence numbers
--     of the last 5 minutes, so the age of a topic without any new row does not exceed 5 minutes. Delay: from the time of receipt to the
--     row, which contains the hop to the bus, of the records of the last 5 minutes.
-- Heartbeats take the same way as all records. When all hops age alike, none arrives: the collector, the bus or the worker does not
-- run. When only the first or the last one ages, the delay is there.
CREATE OR REPLACE VIEW {database}.freshness
(
    `collector` String COMMENT 'Name of the collector',
    `shard` String COMMENT 'Share of the events that it collects',
    `topic` String COMMENT 'Topic',
    `hop` String COMMENT 'exchange to collector, collector to bus, or bus to row',
    `newest_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Until when data passed the hop, by the clock of the collector; NULL for bus to row when the last heartbeat is more than 5 minutes old',
    `age_seconds` Nullable(Float64) COMMENT 'Time since newest_at, by the clock of ClickHouse; 0 when its clock is behind that of the collector',
    `delay_p50_seconds` Nullable(Float64) COMMENT 'How long records took, median; bus to row: from the time of receipt. NULL when not known',
    `delay_p99_seconds` Nullable(Float64) COMMENT 'How long records took, 99th percentile; bus to row: from the time of receipt. NULL when not known'
)
AS
WITH
    running AS
    (
        SELECT collector, shard, session_id, started_at, last_heartbeat_at, last_frames AS open_connections
        FROM
        (
            SELECT collector, shard, session_id, started_at, last_heartbeat_at, last_frames, state
            FROM {database}.sessions
            ORDER BY started_at DESC, session_id
            LIMIT 1 BY collector, shard
        )
        WHERE state != 'stopped' AND last_heartbeat_at >= now64(6, 'UTC') - toIntervalHour(1)
    ),
    -- The newest frame of each topic of a session.
    frames AS
    (
        SELECT session_id, topic, max(stream_frame_at) AS newest_frame_at
        FROM
        (
            SELECT
                session_id,
                transform(stream, {streams}, {stream_topics}, '') AS topic,
                if(countIf(frame_at IS NOT NULL) > 0, min(frame_at), max(recorded_at)) AS stream_frame_at
            FROM
            (
                SELECT
                    session_id,
                    stream,
                    recorded_at,
                    if(type = 'connected', arrayFirstOrNull(frame -> frame.1 = connection_id, open_connections).2, NULL) AS frame_at
                FROM {database}.collector_events
                GLOBAL INNER JOIN running USING (session_id)
                WHERE type IN ('connected', 'disconnected')
            )
            GROUP BY session_id, stream
        )
        GROUP BY session_id, topic
    ),
    -- What each heartbeat states to be durable.
    acknowledgements AS
    (
        SELECT
            session_id,
            toString(name) AS topic,
            groupArrayIf((recorded_at, number), is_compared) AS compared,
            minIf(number, is_compared) AS first_acknowledged,
            max(number) AS last_acknowledged
        FROM
        (
            SELECT session_id, recorded_at, acknowledged, recorded_at >= now64(6, 'UTC') - toIntervalMinute(5) AS is_compared
            FROM {database}.collector_events
            WHERE type = 'heartbeat' AND recorded_at >= now64(6, 'UTC') - toIntervalHour(1)
        )
        ARRAY JOIN mapKeys(acknowledged) AS name, mapValues(acknowledged) AS number
        GROUP BY session_id, topic
    ),
    -- A minute more: records of one append are not always in the order of their times.
    records AS
    (
        SELECT
            session_id,
            toString(_topic) AS topic,
            groupBitmapState(sequence) AS written,
            (quantileOrNullIf(0.5)(delay, is_counted), quantileOrNullIf(0.99)(delay, is_counted)) AS delays
        FROM
        (
            SELECT
                session_id,
                _topic,
                sequence,
                dateDiff('microsecond', received_at, written_at) / 1e6 AS delay,
                received_at >= now64(6, 'UTC') - toIntervalMinute(5) AS is_counted
            FROM {database}.raw_records
            WHERE received_at >= now64(6, 'UTC') - toIntervalMinute(6) AND piece = 0
        )
        GROUP BY session_id, topic
    ),
    -- A point that was received more than 55 minutes late does not count: only its time is in the sorting key.
    (
        SELECT (quantileOrNull(0.5)(delay), quantileOrNull(0.99)(delay))
        FROM
        (
            SELECT dateDiff('microsecond', occurred_at, received_at) / 1e6 AS delay
            FROM {database}.chance_points
            WHERE received_at >= now64(6, 'UTC') - toIntervalMinute(5) AND occurred_at >= now64(6, 'UTC') - toIntervalHour(1)
                AND source = 'change' AND NOT repeated
        )
    ) AS chance_delays
SELECT
    collector,
    shard,
    topic,
    hop_row.1 AS hop,
    hop_row.2 AS newest_at,
    if(hop_row.2 IS NULL, NULL, greatest(0, dateDiff('microsecond', hop_row.2, now64(6, 'UTC')) / 1e6)) AS age_seconds,
    hop_row.3 AS delay_p50_seconds,
    hop_row.4 AS delay_p99_seconds
FROM
(
    SELECT
        collector,
        shard,
        topic,
        last_heartbeat_at,
        newest_frame_at,
        delays,
        -- A heartbeat is a row, so everything before it on its partition is.
        if(
            topic = 'chancery.collector-events',
            toNullable(last_heartbeat_at),
            arrayMax(arrayMap(heartbeat -> if(heartbeat.2 < first_missing, toNullable(heartbeat.1), NULL), compared))
        ) AS written_to
    FROM
    (
        SELECT
            *,
            if(started_at >= now64(6, 'UTC') - toIntervalMinute(5), 0, first_acknowledged) AS before,
            if(
                bitmapCardinality(bitmapSubsetInRange(written, before + 1, last_acknowledged + 1)) = last_acknowledged - before,
                last_acknowledged + 1,
                bitmapMin(bitmapAndnot(bitmapBuild(range(before + 1, last_acknowledged + 1)), written))
            ) AS first_missing
        FROM acknowledgements
        GLOBAL INNER JOIN running USING (session_id)
        GLOBAL LEFT JOIN frames USING (session_id, topic)
        GLOBAL LEFT JOIN records USING (session_id, topic)
    )
)
ARRAY JOIN
    arrayFilter(
        one -> one.1 != 'exchange to collector' OR one.2 > toDateTime64(0, 6, 'UTC'),
        [
            ('exchange to collector', toNullable(newest_frame_at), if(topic = 'chancery.chance', chance_delays.1, NULL), if(topic = 'chancery.chance', chance_delays.2, NULL)),
            ('collector to bus', toNullable(last_heartbeat_at), NULL, NULL),
            ('bus to row', written_to, delays.1, delays.2)
        ]
    ) AS hop_row;
