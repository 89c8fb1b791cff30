-- How many changes of a stream were lost without any audit noticing?
--
-- A lost change that a later one overwrites before the next audit is visible nowhere. But an audit also shows, for each market
-- that changed since the previous audit, whether its last change was received. Audits of the reason interval are made at
-- times that do not depend on losses, so these last changes are a random sample of all changes. Per stream and hour:
--   samples         = last changes of the markets that had changed, in audits of the reason interval
--   lost_samples    = those of them that were not received
--   rate            = lost_samples / samples
--   lower, upper    = Wilson 95 % bounds of the loss rate, with z = 1.96 and n = samples:
--                     (rate + z² / 2n ± z √(rate (1 - rate) / n + z² / 4n²)) / (1 + z² / n)
--   estimated_lost  = changes received x rate / (1 - rate); NULL if every sampled change was lost
-- The bounds assume that changes are lost independently of each other. Losses that audits found are gaps with the cause
-- `diverged`; those in other gaps are not counted here.
CREATE OR REPLACE VIEW {database}.feed_loss_estimate
(
    `stream` String COMMENT 'Audited stream: order-book',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the hour',
    `samples` UInt64 COMMENT 'Sampled changes: of every audit of the hour, the last change of each market that had changed since the previous audit',
    `lost_samples` UInt64 COMMENT 'Sampled changes that were not received',
    `rate` Float64 COMMENT 'Estimated fraction of the changes that were lost, 0 to 1',
    `lower` Float64 COMMENT 'Lower bound of the 95 % Wilson interval of rate, 0 to 1',
    `upper` Float64 COMMENT 'Upper bound of the 95 % Wilson interval of rate, 0 to 1',
    `changes` UInt64 COMMENT 'Changes received between audits',
    `estimated_lost` Nullable(Float64) COMMENT 'Estimated number of changes that were lost between these audits'
)
AS
WITH
    1.959963984540054 AS z,
    1 + z * z / samples AS scale,
    (rate + z * z / (2 * samples)) / scale AS centre,
    z * sqrt(rate * (1 - rate) / samples + z * z / (4 * samples * samples)) / scale AS margin
SELECT
    stream,
    begins_at,
    samples,
    lost_samples,
    lost_samples / samples AS rate,
    greatest(0, centre - margin) AS lower,
    least(1, centre + margin) AS upper,
    changes,
    if(rate < 1, changes * rate / (1 - rate), NULL) AS estimated_lost
FROM
(
    SELECT
        stream,
        toStartOfHour(audited_at) AS begins_at,
        sumIf(audit.changed, reason = 'interval') AS samples,
        sumIf(audit.missed, reason = 'interval') AS lost_samples,
        sum(audit.changes) AS changes
    FROM {database}.audits AS audit
    GROUP BY stream, begins_at
    HAVING samples > 0
);
