-- Which records have been on the bus for more than a minute and are not in ClickHouse yet?
--
-- At least once a second a collector reports which of its records are durable on the bus (collector event `heartbeat`, acknowledged).
-- The reports of the last 15 minutes, except the last minute, are compared with raw_records per session. Missing records
-- wait for a worker or for ClickHouse, or were abandoned (lost_ranges). If no heartbeats arrive either, this view is empty:
-- see pipeline_lag.
CREATE OR REPLACE VIEW {database}.undelivered
(
    `topic` String COMMENT 'Topic',
    `appended` UInt64 COMMENT 'Records reported as durable on the bus within the last 15 minutes, except the last minute',
    `records` UInt64 COMMENT 'Number of these records that are not in raw_records'
)
AS
WITH said AS
    (
        SELECT session_id, toString(name) AS topic, min(number) AS after, maxIf(number, recorded_at < now64(6, 'UTC') - toIntervalMinute(1)) AS upto
        FROM {database}.collector_events
        ARRAY JOIN mapKeys(acknowledged) AS name, mapValues(acknowledged) AS number
        WHERE type = 'heartbeat' AND recorded_at >= now64(6, 'UTC') - toIntervalMinute(15)
        GROUP BY session_id, topic
        HAVING upto > after
    )
SELECT
    topic,
    sum(upto - after) AS appended,
    toUInt64(sum(greatest(toInt64(upto - after) - toInt64(here), 0))) AS records
FROM said
LEFT JOIN
(
    SELECT session_id, toString(_topic) AS topic, countIf(piece = 0 AND sequence > after AND sequence <= upto) AS here
    FROM {database}.raw_records
    INNER JOIN said ON said.session_id = raw_records.session_id AND said.topic = raw_records._topic
    WHERE received_at >= now64(6, 'UTC') - toIntervalMinute(15)
    GROUP BY session_id, topic
) AS arrived USING (session_id, topic)
GROUP BY topic;
