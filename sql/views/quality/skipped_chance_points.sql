-- Which chances did the stream skip, and when were they backfilled?
--
-- The rows of chance_backfills whose whole second is within a range in which their event was observed on the chance stream. The
-- time of a second is by the clock of the exchange, that of a range by ours.
CREATE OR REPLACE VIEW {database}.skipped_chance_points
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `occurred_at` DateTime64(6, 'UTC') COMMENT 'Last microsecond of the second, by the exchange',
    `chance` Float64 COMMENT 'Last probability of YES in the second, 0 to 1',
    `live_chance` Nullable(Float64) COMMENT 'The last one that was received live in the second, 0 to 1; NULL when none was',
    `source` String COMMENT 'update-history: UPDATE_HISTORY. raw or 1s: chance history',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When it was backfilled'
)
AS
SELECT event, market, occurred_at, chance, live_chance, source, received_at
FROM
-- On the left of the join, so that ClickHouse computes it only for the events that are needed.
(
    SELECT event, groupArray((begins_at, ends_at)) AS ranges
    FROM {database}.observed_ranges
    WHERE stream = 'chance'
    GROUP BY event
) AS observed
RIGHT JOIN
{database}.chance_backfills AS backfills USING (event)
WHERE arrayExists(range -> occurred_at - toIntervalMicrosecond(999999) >= range.1 AND occurred_at < range.2, ranges);
