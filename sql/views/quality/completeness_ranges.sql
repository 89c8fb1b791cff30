-- In which ranges was an event observed, as one array for computing the completeness of any period?
--
-- Per row of event_lifetimes: the ranges in which the event was observed, and the time in which it was open. That time
-- begins when the event opened and ends when it closed, or with its last range if that ended later; the range of an event
-- that is being observed ends now. The observed time of a period from_at to to_at, in microseconds, is
--   arraySum(range -> greatest(0, dateDiff('microsecond', greatest(range.1, from_at), least(range.2, to_at))), ranges)
CREATE OR REPLACE VIEW {database}.completeness_ranges
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `open_from` DateTime64(6, 'UTC') COMMENT 'When the event opened: see event_lifetimes',
    `open_to` DateTime64(6, 'UTC') COMMENT 'When it closed: it was last seen or observed; now, while it is open',
    `ranges` Array(Tuple(begins_at DateTime64(6, 'UTC'), ends_at DateTime64(6, 'UTC'))) COMMENT 'Start and end of each range, in order, without overlaps; none when it was never observed'
)
AS
SELECT
    stream,
    event,
    open_from,
    arrayMax(arrayPushBack(arrayMap(range -> range.2, ranges), lifetimes.open_to)) AS open_to,
    -- Only the range of a live subscription has no cause.
    arrayMap(range -> (range.1, if(range.3 = '', now64(6, 'UTC'), range.2)), observed_ranges) AS ranges
FROM {database}.event_lifetimes AS lifetimes;
