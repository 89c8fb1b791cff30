-- Which markets exist, of which events, with which assets?
--
-- The last observation of every market that event search ever listed.
CREATE OR REPLACE VIEW {database}.markets
(
    `market` String COMMENT 'Market ID (outcome ID)',
    `event` String COMMENT 'Event ID',
    `name` Nullable(String) COMMENT 'Name of the market',
    `yes_asset` Nullable(String) COMMENT 'ID of the YES asset',
    `no_asset` Nullable(String) COMMENT 'ID of the NO asset',
    `yes_price` Nullable(Float64) COMMENT 'Last price of the YES asset in event search, 0 to 1',
    `no_price` Nullable(Float64) COMMENT 'Last price of the NO asset in event search, 0 to 1',
    `first_seen_at` DateTime64(6, 'UTC') COMMENT 'When event search first listed it',
    `last_seen_at` DateTime64(6, 'UTC') COMMENT 'When event search last listed it'
)
AS
SELECT
    market,
    state.event AS event,
    state.name AS name,
    state.yes_asset AS yes_asset,
    state.no_asset AS no_asset,
    state.yes_price AS yes_price,
    state.no_price AS no_price,
    first_seen_at,
    last_seen_at
FROM
(
    SELECT
        market,
        CAST(min(market_states.first_seen_at) AS DateTime64(6, 'UTC')) AS first_seen_at,
        CAST(max(market_states.last_seen_at) AS DateTime64(6, 'UTC')) AS last_seen_at,
        argMaxMerge(latest) AS state
    FROM {database}.market_states
    GROUP BY market
);
