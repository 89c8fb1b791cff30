-- How many polls were complete between two times?
--
--   SELECT * FROM polls_between(from_at = '2026-01-05 12:00', to_at = '2026-01-05 13:00') ORDER BY operation
--
-- One row per operation, of the polls that ended in [from_at, to_at), UTC. polls = complete + incomplete + failed; incomplete_polls
-- lists the last two. An operation without a poll in this time has no row.
CREATE OR REPLACE VIEW {database}.polls_between
(
    `operation` String COMMENT 'Name of the operation',
    `polls` UInt64 COMMENT 'Number of polls',
    `complete` UInt64 COMMENT 'Polls that received everything',
    `incomplete` UInt64 COMMENT 'Polls that received a part',
    `failed` UInt64 COMMENT 'Polls that received nothing that can be used',
    `last_complete_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'End of the last complete poll of them; NULL when there was none'
)
AS
SELECT
    CAST(operation, 'String') AS operation,
    count() AS polls,
    countIf(outcome = 'complete') AS complete,
    countIf(outcome = 'incomplete') AS incomplete,
    countIf(outcome = 'failed') AS failed,
    maxOrNullIf(finished_at, outcome = 'complete') AS last_complete_at
FROM {database}.polls
WHERE finished_at >= parseDateTime64BestEffort({from_at:String}, 6, 'UTC')
    AND finished_at < parseDateTime64BestEffort({to_at:String}, 6, 'UTC')
GROUP BY operation;
