-- Which markets moved most within a window that ends now?
--
-- movers(window_seconds = 86400) is movers_between, which has the formulas, for the last 24 hours. Order by abs(change) DESC for the
-- largest.
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
SELECT
    event,
    market,
    title,
    name,
    price_before,
    price_after AS price_now,
    change,
    high,
    low,
    ticks,
    price_before_at,
    price_after_at AS price_now_at
FROM {database}.movers_between(
    from_at = toString(now64(6, 'UTC') - toIntervalSecond({window_seconds:UInt32})),
    to_at = toString(now64(6, 'UTC'))
);
