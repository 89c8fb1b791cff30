-- What is on the bus for longer than a minute, and still not here?
--
-- Every second a collector says up to which of its records the bus has all (marks: acked). What it said so of between 15
-- minutes and one minute ago is compared with raw_records, session by session. What is missing waits for a worker or for
-- ClickHouse, or was given up (lost_ranges). When no marks arrive either, nothing is known here: see pipeline_lag.
CREATE OR REPLACE VIEW {database}.undelivered
(
    `topic` String COMMENT 'Topic',
    `appended` UInt64 COMMENT 'Records that collectors said to be on the bus, of the last 15 minutes but the very last',
    `records` UInt64 COMMENT 'How many of them are not here'
)
AS
WITH said AS
    (
        SELECT sid, toString(name) AS topic, min(number) AS after, maxIf(number, marked_at < now64(6, 'UTC') - toIntervalMinute(1)) AS upto
        FROM {database}.marks
        ARRAY JOIN mapKeys(acked) AS name, mapValues(acked) AS number
        WHERE type = 'alive' AND marked_at >= now64(6, 'UTC') - toIntervalMinute(15)
        GROUP BY sid, topic
        HAVING upto > after
    )
SELECT
    topic,
    sum(upto - after) AS appended,
    toUInt64(sum(greatest(toInt64(upto - after) - toInt64(here), 0))) AS records
FROM said
LEFT JOIN
(
    SELECT sid, toString(_topic) AS topic, countIf(piece = 0 AND n > after AND n <= upto) AS here
    FROM {database}.raw_records
    INNER JOIN said ON said.sid = raw_records.sid AND said.topic = raw_records._topic
    WHERE received_at >= now64(6, 'UTC') - toIntervalMinute(15)
    GROUP BY sid, topic
) AS arrived USING (sid, topic)
GROUP BY topic;
