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
    CAST(latest_event, 'String') AS event,
    market,
    latest_last AS last,
    nullIf(latest_bid, -1) AS bid,
    nullIf(latest_ask, -1) AS ask,
    received_at
FROM
(
    SELECT
        CAST(price_states.market, 'String') AS market,
        argMaxMerge(price_states.event) AS latest_event,
        argMaxMerge(price_states.last) AS latest_last,
        argMaxMerge(price_states.bid) AS latest_bid,
        argMaxMerge(price_states.ask) AS latest_ask,
        CAST(max(price_states.last_received_at), 'DateTime64(6, \'UTC\')') AS received_at
    FROM {database}.price_states
    GROUP BY market
);
