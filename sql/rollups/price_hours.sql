-- Aggregates the ticks of the blocks first_block to last_block of a partition by market and hour. The worker runs it on the shard that
-- alone has rows of these blocks, when all their offsets are committed. run is a random number.
INSERT INTO {database}.price_hours
(
    event, market, begins_at, rollup_id,
{price_bar_columns}
)
SELECT
    event,
    market,
    toStartOfHour(received_at) AS begins_at,
    cityHash64({run:UInt64}, `_log`, `_partition`, intDiv(`_offset`, 65536)) AS rollup_id,
{price_bar}
FROM {database}.price_ticks
WHERE `_log` = {log:String} AND `_partition` = {partition:UInt32}
    AND `_offset` >= {first_block:UInt64} * 65536 AND `_offset` < ({last_block:UInt64} + 1) * 65536
    AND NOT repeated AND NOT is_resolution
GROUP BY event, market, begins_at, `_log`, `_partition`, intDiv(`_offset`, 65536)
