-- Which coins does the exchange list, and what are they worth?
--
-- The last observation of every coin that the coins list ever contained.
CREATE OR REPLACE VIEW {database}.coins
(
    `coin` String COMMENT 'Coin ID',
    `name` Nullable(String) COMMENT 'Full name',
    `ticker` Nullable(String) COMMENT 'Ticker',
    `usd_rate` Nullable(Float64) COMMENT 'USD for one coin',
    `usd_rate_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the rate was updated, by the exchange',
    `full_decimals` Nullable(Int64) COMMENT 'Decimals at full precision',
    `display_decimals` Nullable(Int64) COMMENT 'Decimals for short display',
    `status` Nullable(String) COMMENT 'Status, such as ACTIVE',
    `icon_url` Nullable(String) COMMENT 'Address of the icon',
    `system_coin` Nullable(Bool) COMMENT 'Whether it is a system coin',
    `collateral` Nullable(Bool) COMMENT 'Whether it may be used as prediction-market collateral',
    `first_seen_at` DateTime64(6, 'UTC') COMMENT 'When the coins list first listed it',
    `last_seen_at` DateTime64(6, 'UTC') COMMENT 'When the coins list last listed it'
)
AS
SELECT
    coin,
    state.name AS name,
    state.ticker AS ticker,
    state.usd_rate AS usd_rate,
    state.usd_rate_at AS usd_rate_at,
    state.full_decimals AS full_decimals,
    state.display_decimals AS display_decimals,
    state.status AS status,
    state.icon_url AS icon_url,
    state.system_coin AS system_coin,
    state.collateral AS collateral,
    first_seen_at,
    last_seen_at
FROM
(
    SELECT
        coin,
        CAST(min(coin_states.first_seen_at) AS DateTime64(6, 'UTC')) AS first_seen_at,
        CAST(max(coin_states.last_seen_at) AS DateTime64(6, 'UTC')) AS last_seen_at,
        argMaxMerge(latest) AS state
    FROM {database}.coin_states
    GROUP BY coin
);
