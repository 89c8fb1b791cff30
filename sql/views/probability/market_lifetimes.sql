-- When was every market opened, first priced, first traded, closed and resolved?
--
-- One row per market that event search listed. Times of the exchange and of our clock are not compared; each column says whose it is.
-- A market whose event is still listed has no closed_at. The first trade is that of the activity feed, which begins where its history
-- does; without accounts there is none. How it was resolved is in resolutions.
CREATE OR REPLACE VIEW {database}.market_lifetimes
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `name` Nullable(String) COMMENT 'Name of the market',
    `opened_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the event was opened, by the exchange; NULL when absent',
    `first_listed_at` DateTime64(6, 'UTC') COMMENT 'When event search first listed the market, by our clock',
    `first_price_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When its first tick was received, by our clock; NULL without a tick',
    `last_price_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When its last tick was received, by our clock; NULL without a tick',
    `first_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When its first trade in the activity feed was executed, by the exchange; NULL without one',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When its last trade in the activity feed was executed, by the exchange; NULL without one',
    `trades` UInt64 COMMENT 'Number of its trades in the activity feed',
    `closes_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When trading is planned to end, by the exchange; NULL when absent',
    `last_listed_at` DateTime64(6, 'UTC') COMMENT 'When event search last listed the market, by our clock',
    `closed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'last_listed_at of a market whose event is no longer listed, by our clock; NULL while it is open',
    `final_chance_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a final chance of 0 or 1 was received, by our clock; NULL without one',
    `final_chance` Nullable(Float64) COMMENT 'Final probability of YES, 0 to 1: exactly 0 or 1; NULL without one'
)
AS
SELECT
    event,
    market,
    name,
    opened_at,
    first_listed_at,
    if(first_tick_at = 0, NULL, first_tick_at) AS first_price_at,
    if(first_tick_at = 0, NULL, last_tick_at) AS last_price_at,
    first_trade_at,
    last_trade_at,
    trades,
    closes_at,
    last_listed_at,
    if(is_open, NULL, last_listed_at) AS closed_at,
    if(decided, known_at, NULL) AS final_chance_at,
    if(decided, chance, NULL) AS final_chance
FROM (SELECT market, event, name, first_seen_at AS first_listed_at, last_seen_at AS last_listed_at FROM {database}.markets) AS listed
LEFT JOIN (SELECT event, created_at AS opened_at, closes_at, open AS is_open FROM {database}.events) AS known USING (event)
LEFT JOIN
(
    SELECT
        toString(market) AS market,
        CAST(min(first_received_at), 'DateTime64(6, \'UTC\')') AS first_tick_at,
        CAST(max(last_received_at), 'DateTime64(6, \'UTC\')') AS last_tick_at
    FROM {database}.price_states
    GROUP BY market
) AS priced USING (market)
LEFT JOIN
(
    SELECT toString(market) AS market, min(executed_at) AS first_trade_at, max(executed_at) AS last_trade_at, count() AS trades
    FROM {database}.activity_records FINAL
    GROUP BY market
) AS traded USING (market)
LEFT JOIN (SELECT market, decided, known_at, chance FROM {database}.market_chances) AS chances USING (market);
