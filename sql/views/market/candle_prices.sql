-- How did the price of a market move, without its completeness?
--
--   SELECT * FROM candle_prices(period_seconds = 60)
--   WHERE market = '...' AND begins_at >= now() - INTERVAL 6 HOUR ORDER BY begins_at
--
-- The basis of candles: the same rows and prices. A query that has the completeness of its periods from elsewhere (market_periods
-- has also those without a tick) reads these, because ClickHouse takes longer to plan the completeness than to compute the prices.
--
-- Periods of whole days are read from price_days, those of whole hours, and days that it does not hold yet, from price_hours, and what
-- neither holds from price_ticks.
CREATE OR REPLACE VIEW {database}.candle_prices
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period',
    `open` Float64 COMMENT 'First price of the last trade in the period, in YES terms',
    `high` Float64 COMMENT 'Highest price of the last trade in the period, in YES terms',
    `low` Float64 COMMENT 'Lowest price of the last trade in the period, in YES terms',
    `close` Float64 COMMENT 'Last price of the last trade in the period, in YES terms',
    `bid` Nullable(Float64) COMMENT 'Best bid at the end, in YES terms; NULL when there is no bid',
    `ask` Nullable(Float64) COMMENT 'Best ask at the end, in YES terms; NULL when there is no ask',
    `mid_open` Nullable(Float64) COMMENT 'First mid of bid and ask in the period, in YES terms; NULL when no tick has both sides',
    `mid_high` Nullable(Float64) COMMENT 'Highest mid in the period, in YES terms',
    `mid_low` Nullable(Float64) COMMENT 'Lowest mid in the period, in YES terms',
    `mid_close` Nullable(Float64) COMMENT 'Last mid in the period, in YES terms',
    `ticks` UInt64 COMMENT 'Rows of price_ticks in the period that are neither repeated nor a resolution'
)
AS
-- Compared faster than the list of blocks.
WITH
    (SELECT if(count() = 0, 18446744073709551615, min(block) * 65536) FROM {database}.price_blocks FINAL WHERE rollup_id = 0) AS first_offset,
{period_functions}
SELECT
    CAST(event, 'String') AS event,
    CAST(market, 'String') AS market,
    begins_at,
    open,
    high,
    low,
    close,
    closing_bid AS bid,
    closing_ask AS ask,
    mid_open,
    mid_high,
    mid_low,
    mid_close,
    ticks
FROM
(
    SELECT
        event,
        market,
        period_start(starts_at) AS begins_at,
{merged_price_bars}
    FROM
    (
        SELECT
            event, market, price_hours.begins_at AS starts_at,
{price_bar_columns}
        FROM {database}.price_hours
        WHERE {period_seconds:UInt32} % 3600 = 0
            AND rollup_id GLOBAL IN (SELECT rollup_id FROM {database}.price_blocks FINAL WHERE {period_seconds:UInt32} % 86400 != 0 OR days_id = 0)
        UNION ALL
        SELECT
            event, market, price_days.begins_at AS starts_at,
{price_bar_columns}
        FROM {database}.price_days
        WHERE {period_seconds:UInt32} % 86400 = 0
            AND rollup_id GLOBAL IN (SELECT days_id FROM {database}.price_blocks FINAL)
        UNION ALL
        SELECT
            event,
            market,
            period_start(received_at) AS starts_at,
{price_bar}
        FROM {database}.price_ticks
        WHERE NOT repeated AND NOT is_resolution
            AND (
                {period_seconds:UInt32} % 3600 != 0
                OR `_offset` >= first_offset AND (`_log`, `_partition`, intDiv(`_offset`, 65536)) GLOBAL IN (SELECT `_log`, `_partition`, block FROM {database}.price_blocks FINAL WHERE rollup_id = 0)
            )
        GROUP BY event, market, starts_at
    ) AS hours
    GROUP BY event, market, begins_at
);
