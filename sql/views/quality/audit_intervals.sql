-- How long could a lost change of an order book stay unnoticed?
--
-- One row per audit of an event. An audit compares all prices of the event with those that the exchange states; a change that was
-- lost after last_equal_at is found by it at the latest, or overwritten by then (feed_loss_estimate says how often).
-- interval_seconds = audited_at - last_equal_at.
CREATE OR REPLACE VIEW {database}.audit_intervals
(
    `stream` String COMMENT 'Audited stream: order-book',
    `event` String COMMENT 'Event ID',
    `audited_at` DateTime64(6, 'UTC') COMMENT 'When the prices of the exchange were received',
    `last_equal_at` DateTime64(6, 'UTC') COMMENT 'The previous audit in which all prices were equal, or the initial snapshot of the subscription',
    `interval_seconds` Float64 COMMENT 'Time from last_equal_at to audited_at',
    `reason` String COMMENT 'interval: it was due. silence: of the whole connection. difference: the last price differed from the chance stream. unrequested: the exchange sent its prices without a request, and they were unequal',
    `compared` UInt32 COMMENT 'Markets compared',
    `mismatches` UInt32 COMMENT 'Unequal markets, each a row of audit_mismatches'
)
AS
SELECT
    stream,
    event,
    audited_at,
    last_equal_at,
    dateDiff('microsecond', last_equal_at, audited_at) / 1e6 AS interval_seconds,
    reason,
    compared,
    mismatches
FROM {database}.audits;
