-- When was which event observed by any collector, without overlaps?
--
-- The rows of coverage of one stream and event, merged where they overlap or touch.
CREATE OR REPLACE VIEW {database}.observed_ranges
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the range',
    `ends_at` DateTime64(6, 'UTC') COMMENT 'End of the range; the last heartbeat, while the event is observed',
    `state` String COMMENT 'live when a subscription of the range is live, else ended',
    `cause` String COMMENT 'Why the last subscription of the range ended; empty while one is live'
)
AS
SELECT
    stream,
    event,
    range.1 AS begins_at,
    range.2 AS ends_at,
    range.3 AS state,
    range.4 AS cause
FROM {database}.merged_coverage
ARRAY JOIN ranges AS range;
