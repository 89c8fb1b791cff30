-- Which markets moved most in the last 24 hours?
--
-- Per market with a tick in the last 24 hours:
--   price_before = price of the last trade in the last tick at or before 24 hours ago, looked for in the 7 days before that;
--                  where there is none, in the first tick after it (see before_at)
--   price_now    = price of the last trade in the last tick
--   change       = price_now - price_before, in points of probability, not in percent of the price
-- Order by abs(change) DESC for the greatest.
CREATE OR REPLACE VIEW {database}.movers_24h
(
    `event` LowCardinality(String) COMMENT 'Event ID',
    `market` LowCardinality(String) COMMENT 'Market ID',
    `title` Nullable(String) COMMENT 'Title of the event',
    `name` Nullable(String) COMMENT 'Name of the market',
    `price_before` Float64 COMMENT 'Price of the last trade 24 hours ago, in YES terms',
    `price_now` Float64 COMMENT 'Price of the last trade now',
    `change` Float64 COMMENT 'price_now - price_before',
    `high` Float64 COMMENT 'Greatest price of the last trade in the last 24 hours',
    `low` Float64 COMMENT 'Least price of the last trade in the last 24 hours',
    `ticks` UInt64 COMMENT 'Rows of price_ticks in the last 24 hours',
    `before_at` DateTime64(6, 'UTC') COMMENT 'When price_before was received',
    `now_at` DateTime64(6, 'UTC') COMMENT 'When price_now was received'
)
AS
WITH now64(6, 'UTC') - toIntervalHour(24) AS day_ago
SELECT
    event,
    market,
    title,
    name,
    earlier.1 AS price_before,
    latest.1 AS price_now,
    latest.1 - earlier.1 AS change,
    high,
    low,
    ticks,
    earlier.2 AS before_at,
    latest.2 AS now_at
FROM
(
    SELECT
        any(event) AS event,
        market,
        if(
            countIf(received_at <= day_ago) > 0,
            argMaxIf((last, received_at), (received_at, `_offset`, `_index`), received_at <= day_ago),
            argMin((last, received_at), (received_at, `_offset`, `_index`))
        ) AS earlier,
        argMax((last, received_at), (received_at, `_offset`, `_index`)) AS latest,
        maxIf(last, received_at > day_ago) AS high,
        minIf(last, received_at > day_ago) AS low,
        countIf(received_at > day_ago) AS ticks
    FROM {database}.price_ticks
    WHERE received_at > day_ago - toIntervalDay(7)
    GROUP BY market
    HAVING ticks > 0
) AS moves
LEFT JOIN (SELECT event, title FROM {database}.events) AS titles USING (event)
LEFT JOIN (SELECT market, name FROM {database}.markets) AS names USING (market);
