-- What were the prices of the markets of our positions around the recent polls of the positions?
--
-- One row per market, for position_field_reconciliation: its ticks from 7 days before the first of recent_account_polls to 5 s after the last
-- one, without those that repeat the former one. Of the hours before the first poll only the last tick of each hour (price_hours) and
-- resolutions; and the last tick of the market until now (latest_ticks), also if it is older or later.
CREATE OR REPLACE VIEW {database}.poll_ticks
(
    `market` String COMMENT 'Market ID',
    `ticks` Array(Tuple(received_at DateTime64(6, 'UTC'), last Float64)) COMMENT 'Ticks in order: when it was received, and the price of the last trade in YES terms, USDC'
)
AS
WITH
    -- A constant, so that ClickHouse reads only the ticks of this time.
    (SELECT (min(started_at), max(started_at)) FROM {database}.recent_account_polls WHERE list = 'positions') AS polled,
    -- Compared faster than the list of blocks.
    (SELECT if(count() = 0, 18446744073709551615, min(block) * 65536) FROM {database}.price_blocks FINAL WHERE rollup_id = 0) AS first_offset
SELECT
    market,
    arrayMap(one -> (fromUnixTimestamp64Micro(toInt64(bitShiftRight(one.1, 64)), 'UTC'), one.2), arraySort(groupArray((position, price)))) AS ticks
FROM
(
    SELECT toString(price_hours.market) AS market, last_tick AS position, close AS price
    FROM {database}.price_hours
    WHERE price_hours.market GLOBAL IN (SELECT market FROM {database}.position_observations WHERE received_at >= polled.1)
        AND price_hours.begins_at >= toStartOfHour(polled.1 - toIntervalDay(7)) AND price_hours.begins_at < toStartOfHour(polled.1)
        AND last_tick >= bitShiftLeft(toUInt128(toUnixTimestamp64Micro(polled.1 - toIntervalDay(7))), 64)
        AND rollup_id GLOBAL IN (SELECT rollup_id FROM {database}.price_blocks FINAL)
    UNION ALL
    SELECT
        toString(price_ticks.market) AS market,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS position,
        toFloat64(last) AS price
    FROM {database}.price_ticks
    WHERE NOT repeated AND price_ticks.market GLOBAL IN (SELECT market FROM {database}.position_observations WHERE received_at >= polled.1)
        AND received_at >= toStartOfHour(polled.1) AND received_at <= polled.2 + toIntervalSecond(5)
    UNION ALL
    -- Resolutions, which price_hours does not hold. Not joined to the condition below by OR, so that each uses its index.
    SELECT
        toString(price_ticks.market) AS market,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS position,
        toFloat64(last) AS price
    FROM {database}.price_ticks
    WHERE NOT repeated AND price_ticks.market GLOBAL IN (SELECT market FROM {database}.position_observations WHERE received_at >= polled.1)
        AND received_at >= polled.1 - toIntervalDay(7) AND received_at < toStartOfHour(polled.1) AND last IN (0, 1)
    UNION ALL
    SELECT
        toString(price_ticks.market) AS market,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS position,
        toFloat64(last) AS price
    FROM {database}.price_ticks
    WHERE NOT repeated AND price_ticks.market GLOBAL IN (SELECT market FROM {database}.position_observations WHERE received_at >= polled.1)
        AND received_at >= polled.1 - toIntervalDay(7) AND received_at < toStartOfHour(polled.1)
        AND `_offset` >= first_offset AND (`_log`, `_partition`, intDiv(`_offset`, 65536)) GLOBAL IN (SELECT `_log`, `_partition`, block FROM {database}.price_blocks FINAL WHERE rollup_id = 0)
    UNION ALL
    SELECT market, bitShiftLeft(toUInt128(toUnixTimestamp64Micro(received_at)), 64) AS position, last AS price
    FROM {database}.latest_ticks
    WHERE market GLOBAL IN (SELECT toString(position_observations.market) FROM {database}.position_observations WHERE position_observations.received_at >= polled.1)
)
GROUP BY market;
