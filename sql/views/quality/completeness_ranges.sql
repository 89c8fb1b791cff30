-- In which ranges was an event observed, as one array for computing the completeness of any period?
--
-- Per row of event_lifetimes: the ranges in which the event was observed, and the time in which it was open. That time
-- begins when the event opened and ends when it closed, or with its last range if that ended later; the range of an event
-- that is being observed ends now. The observed time of a period from_at to to_at, in microseconds, is
--   arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), ranges)
CREATE OR REPLACE VIEW {database}.completeness_ranges
(
    `stream` String COMMENT 'order-book or chance',
    `event` String COMMENT 'Event ID',
    `open_from` DateTime64(6, 'UTC') COMMENT 'When the event opened: it was first seen or observed',
    `open_until` DateTime64(6, 'UTC') COMMENT 'When it closed: it was last seen or observed; now, while it is open',
    `ranges` Array(Tuple(DateTime64(6, 'UTC'), DateTime64(6, 'UTC'))) COMMENT 'Start and end of each range, in order, without overlaps; none when it was never observed'
)
AS
SELECT
    stream,
    event,
    open_from,
    arrayMax(arrayPushBack(arrayMap(range -> range.2, ranges), open_to)) AS open_until,
    -- Only the range of a live subscription has no cause.
    arrayMap(range -> (range.1, if(range.3 = '', now64(6, 'UTC'), range.2)), covered) AS ranges
FROM {database}.event_lifetimes;
