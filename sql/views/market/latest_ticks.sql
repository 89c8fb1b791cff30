-- What is the last tick of every market?
--
-- The last row of price_ticks by received_at, and among rows received at the same time by _offset and _index. latest_prices adds
-- names, mid and spread.
CREATE OR REPLACE VIEW {database}.latest_ticks
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `last` Float64 COMMENT 'Price of the last trade in YES terms, 0 to 1',
    `bid` Nullable(Float64) COMMENT 'Best bid in YES terms; NULL when there is no bid',
    `ask` Nullable(Float64) COMMENT 'Best ask in YES terms; NULL when there is no ask',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When it was received'
)
AS
SELECT
    tick.1 AS event,
    market,
    tick.2 AS last,
    tick.3 AS bid,
    tick.4 AS ask,
    latest_at AS received_at
FROM
(
    SELECT
        market,
        max(received_at) AS latest_at,
        argMax((event, last, bid, ask), (received_at, `_offset`, `_index`)) AS tick
    FROM {database}.price_ticks
    -- Times alone are compared faster, and few other ticks have one of them.
    WHERE received_at GLOBAL IN (SELECT max(last_received_at) FROM {database}.price_states GROUP BY market) AND (market, received_at) GLOBAL IN
    (
        SELECT market, max(last_received_at)
        FROM {database}.price_states
        GROUP BY market
    )
    GROUP BY market
);
