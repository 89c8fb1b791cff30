-- What does every market cost now?
--
-- The rows of latest_ticks, with names. A price is valid until the next one: its age does not show whether it is
-- current, coverage does. A crossed book (bid above ask) has neither mid nor spread, because its two prices cannot
-- both be traded; spread_stats and event_overround leave such books out as well.
CREATE OR REPLACE VIEW {database}.latest_prices
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `title` Nullable(String) COMMENT 'Title of the event',
    `name` Nullable(String) COMMENT 'Name of the market',
    `last` Float64 COMMENT 'Price of the last trade in YES terms, 0 to 1',
    `bid` Nullable(Float64) COMMENT 'Best bid in YES terms; NULL when there is no bid',
    `ask` Nullable(Float64) COMMENT 'Best ask in YES terms; NULL when there is no ask',
    `mid` Nullable(Float64) COMMENT '(bid + ask) / 2, in YES terms; NULL when a side is empty or the book is crossed',
    `spread` Nullable(Float64) COMMENT 'ask - bid, 0 to 1; NULL when a side is empty or the book is crossed',
    `crossed` Bool COMMENT 'Whether the bid is above the ask',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When it was received'
)
AS
SELECT
    event,
    market,
    title,
    name,
    last,
    bid,
    ask,
    if(bid <= ask, (bid + ask) / 2, NULL) AS mid,
    if(bid <= ask, ask - bid, NULL) AS spread,
    toBool(ifNull(bid > ask, false)) AS crossed,
    received_at
FROM (SELECT * FROM {database}.latest_ticks) AS ticks
LEFT JOIN (SELECT event, title FROM ({event_texts})) AS event_titles USING (event)
LEFT JOIN (SELECT market, name FROM {database}.markets) AS market_names USING (market);
