-- Which markets moved most within a window that ends now?
--
-- movers(window_seconds = 86400) is the last 24 hours. Per market with a tick within the window (not repeated, and no
-- resolution: a last price of 0 or 1 is no trade):
--   price_before = price of the last trade in the last tick at or before the start of the window, searched in the 7 days
--                  before it; where there is none, in the first tick after it (see price_before_at)
--   price_now    = price of the last trade in the last tick
--   change       = price_now - price_before, in points of probability, not in percent of the price
-- Order by abs(change) DESC for the largest.
CREATE OR REPLACE VIEW {database}.movers
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `title` Nullable(String) COMMENT 'Title of the event',
    `name` Nullable(String) COMMENT 'Name of the market',
    `price_before` Float64 COMMENT 'Price of the last trade at the start of the window, in YES terms',
    `price_now` Float64 COMMENT 'Price of the last trade now, in YES terms',
    `change` Float64 COMMENT 'price_now - price_before, in points of probability: -1 to 1',
    `high` Float64 COMMENT 'Highest price of the last trade within the window, in YES terms',
    `low` Float64 COMMENT 'Lowest price of the last trade within the window, in YES terms',
    `ticks` UInt64 COMMENT 'Rows of price_ticks within the window that are neither repeated nor a resolution',
    `price_before_at` DateTime64(6, 'UTC') COMMENT 'When price_before was received',
    `price_now_at` DateTime64(6, 'UTC') COMMENT 'When price_now was received'
)
AS
WITH now64(6, 'UTC') - toIntervalSecond({window_seconds:UInt32}) AS window_start
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
    earlier.2 AS price_before_at,
    latest.2 AS price_now_at
FROM
(
    SELECT
        any(event) AS event,
        market,
        if(
            countIf(received_at <= window_start) > 0,
            argMaxIf((last, received_at), (received_at, `_offset`, `_index`), received_at <= window_start),
            argMin((last, received_at), (received_at, `_offset`, `_index`))
        ) AS earlier,
        argMax((last, received_at), (received_at, `_offset`, `_index`)) AS latest,
        maxIf(last, received_at > window_start) AS high,
        minIf(last, received_at > window_start) AS low,
        countIf(received_at > window_start) AS ticks
    FROM {database}.price_ticks
    WHERE received_at > window_start - toIntervalDay(7) AND NOT repeated AND NOT is_resolution
    GROUP BY market
    HAVING ticks > 0
) AS moves
LEFT JOIN (SELECT event, title FROM {database}.events) AS titles USING (event)
LEFT JOIN (SELECT market, name FROM {database}.markets) AS names USING (market);
