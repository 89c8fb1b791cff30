-- What does every market cost now?
--
-- The last row of price_ticks of every market. A price is valid until the next one: its age does not tell whether it is
-- current, coverage does. A crossed book (bid above ask) has neither mid nor spread, because nobody could trade at both
-- prices; spread_stats and event_overround leave such books out as well.
CREATE OR REPLACE VIEW {database}.latest_prices
(
    `event` LowCardinality(String) COMMENT 'Event ID',
    `market` LowCardinality(String) COMMENT 'Market ID',
    `title` Nullable(String) COMMENT 'Title of the event',
    `name` Nullable(String) COMMENT 'Name of the market',
    `last` Float64 COMMENT 'Price of the last trade in YES terms, 0 to 1',
    `bid` Nullable(Float64) COMMENT 'Best bid; NULL when there is no bid',
    `ask` Nullable(Float64) COMMENT 'Best ask; NULL when there is no ask',
    `mid` Nullable(Float64) COMMENT '(bid + ask) / 2; NULL when a side is empty or the book is crossed',
    `spread` Nullable(Float64) COMMENT 'ask - bid, 0 or more; NULL when a side is empty or the book is crossed',
    `crossed` Bool COMMENT 'Whether the bid is above the ask',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When it was received'
)
AS
SELECT
    tick.1 AS event,
    market,
    title,
    name,
    tick.2 AS last,
    tick.3 AS bid,
    tick.4 AS ask,
    if(bid <= ask, (bid + ask) / 2, NULL) AS mid,
    if(bid <= ask, ask - bid, NULL) AS spread,
    toBool(ifNull(bid > ask, false)) AS crossed,
    latest_at AS received_at
FROM
(
    SELECT
        market,
        max(received_at) AS latest_at,
        argMax((event, last, bid, ask), (received_at, `_offset`, `_index`)) AS tick
    FROM {database}.price_ticks
    WHERE (market, received_at) GLOBAL IN
    (
        SELECT market, max(last_received_at)
        FROM {database}.price_states
        GROUP BY market
    )
    GROUP BY market
) AS ticks
LEFT JOIN (SELECT event, title FROM {database}.events) AS event_titles ON event_titles.event = tick.1
LEFT JOIN (SELECT market, name FROM {database}.markets) AS market_names USING (market);
