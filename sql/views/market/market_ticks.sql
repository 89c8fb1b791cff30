-- Which prices of a market were received, message by message, and which record holds each?
--
--   SELECT * FROM market_ticks(market = '...') WHERE received_at >= now() - INTERVAL 1 HOUR
--   ORDER BY received_at DESC, offset DESC, index DESC LIMIT 100
--
-- One row per message of the order book stream, in the order of (received_at, offset, index). A repeated tick, and the one of a
-- resolution, changes no candle. When nothing was observed there is no tick either: gaps has these times. record_bodies has
-- the message, by topic chancery.order-book, log, partition and offset.
--
-- The market is a parameter, not a filter, so that ClickHouse reads the newest ticks without reading all of the market.
CREATE OR REPLACE VIEW {database}.market_ticks
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID (outcome ID)',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the collector received it, in whole milliseconds. The stream has no exchange time',
    `last` Float64 COMMENT 'Price of the last trade in YES terms, 0 to 1, exactly the JSON number',
    `bid` Nullable(Float64) COMMENT 'Best bid in YES terms. NULL when there is no bid: the stream sends 0 (or 1), which is not a valid order price',
    `ask` Nullable(Float64) COMMENT 'Best ask in YES terms. NULL when there is no ask: the stream sends 1 (or 0), which is not a valid order price',
    `source` String COMMENT 'snapshot: PRICES_DATA, the state of every market of the event. delta: PRICES_DATA_DELTA, a change',
    `repeated` Bool COMMENT 'Whether it is a delta that equals the previous tick of its market from the same connection',
    `is_resolution` Bool COMMENT 'Whether the last price is exactly 0 or 1: the market was resolved',
    `log` String COMMENT 'ID of the topic of its record',
    `partition` UInt32 COMMENT 'Partition of its record',
    `offset` UInt64 COMMENT 'Offset of its record in the partition',
    `index` UInt32 COMMENT 'Number of the row within its record, from 0; offset and index order the ticks received at the same time'
)
AS
SELECT
    CAST(price_ticks.event, 'String') AS event,
    CAST(price_ticks.market, 'String') AS market,
    received_at,
    CAST(price_ticks.last, 'Float64') AS last,
    CAST(price_ticks.bid, 'Nullable(Float64)') AS bid,
    CAST(price_ticks.ask, 'Nullable(Float64)') AS ask,
    CAST(price_ticks.source, 'String') AS source,
    repeated,
    is_resolution,
    CAST(`_log`, 'String') AS log,
    `_partition` AS partition,
    `_offset` AS offset,
    `_index` AS index
FROM {database}.price_ticks
WHERE price_ticks.market = {market:String};
