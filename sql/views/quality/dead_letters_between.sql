-- Which payloads could not be decoded between two times, and why?
--
--   SELECT * FROM dead_letters_between(from_at = '2026-01-05', to_at = '2026-01-06') ORDER BY letters DESC
--
-- One row per topic, kind and reason, of the dead letters whose rows were written in [from_at, to_at), UTC. Many with one reason
-- indicate a changed format of the exchange. A reason without dead letters has no row.
CREATE OR REPLACE VIEW {database}.dead_letters_between
(
    `topic` String COMMENT 'Topic',
    `kind` String COMMENT 'Record kind; empty when the envelope could not be read',
    `reason` String COMMENT 'What is invalid',
    `letters` UInt64 COMMENT 'Number of dead letters',
    `first_written_at` DateTime64(6, 'UTC') COMMENT 'When the first of them was written, in whole milliseconds',
    `last_written_at` DateTime64(6, 'UTC') COMMENT 'When the last of them was written, in whole milliseconds',
    `json_path` String COMMENT 'Path of the invalid value in the record of the last of them, such as d[3].b; empty for the whole record',
    `payload` String COMMENT 'Payload of the last of them, truncated to 4096 characters; empty after the first 1000 of one reason in a batch'
)
AS
SELECT
    CAST(`_topic`, 'String') AS topic,
    CAST(kind, 'String') AS kind,
    reason,
    count() AS letters,
    CAST(min(written_at), 'DateTime64(6, \'UTC\')') AS first_written_at,
    CAST(max(written_at), 'DateTime64(6, \'UTC\')') AS last_written_at,
    argMax(json_path, (written_at, `_offset`, `_index`)) AS json_path,
    argMax(payload, (written_at, `_offset`, `_index`)) AS payload
FROM {database}.dead_letters
WHERE written_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC')
    AND written_at < parseDateTime64BestEffort({to_at:String}, 6, 'UTC')
GROUP BY topic, kind, reason;
