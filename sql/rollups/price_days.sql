-- Aggregates by day what price_hours holds of a group of 16 blocks. run is a random number.
INSERT INTO {database}.price_days
(
    event, market, begins_at, rollup_id,
{price_bar_columns}
)
SELECT
    event,
    market,
    toStartOfDay(starts_at) AS begins_at,
    {run:UInt64} AS rollup_id,
{merged_price_bars}
FROM
(
    SELECT
        event, market, begins_at AS starts_at,
{price_bar_columns}
    FROM {database}.price_hours
    WHERE rollup_id IN (
        SELECT rollup_id
        FROM {database}.price_blocks FINAL
        WHERE `_log` = {log:String} AND `_partition` = {partition:UInt32} AND intDiv(block, 16) = {block_group:UInt64}
    )
) AS hours
GROUP BY event, market, begins_at
