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
    min(begins) AS begins_at,
    max(ends) AS ends_at,
    if(max(subscription_state = 'live'), 'live', 'ended') AS state,
    if(state = 'live', '', argMax(subscription_cause, ends)) AS cause
FROM
(
    SELECT
        *,
        sum(begins > reached) OVER (PARTITION BY stream, event ORDER BY begins, ends ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
    FROM
    (
        SELECT
            stream,
            event,
            begins_at AS begins,
            ends_at AS ends,
            state AS subscription_state,
            cause AS subscription_cause,
            max(ends) OVER (PARTITION BY stream, event ORDER BY begins, ends ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
        FROM {database}.coverage
    )
)
GROUP BY stream, event, island;
