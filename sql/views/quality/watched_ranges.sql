-- In which ranges was an event watched, as one array to measure any period against?
--
-- The rows of covered_ranges of one stream and event; the range of an event that is being watched ends now. The time of
-- a period from_at to to_at that was watched, microseconds, is
--   arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), ranges)
CREATE OR REPLACE VIEW {database}.watched_ranges
(
    `stream` String COMMENT 'order-book or chance',
    `event` String COMMENT 'Event ID',
    `ranges` Array(Tuple(DateTime64(6, 'UTC'), DateTime64(6, 'UTC'))) COMMENT 'Start and end of each range, without overlaps'
)
AS
SELECT
    stream,
    event,
    groupArray((begins_at, if(state = 'live', now64(6, 'UTC'), ends_at))) AS ranges
FROM {database}.covered_ranges
GROUP BY stream, event;
