-- How did the rate and status of a coin change?
--
-- Every observation whose content differs from the previous one; `first` is true for the first observation. A change of
-- usd_rate_at alone is ignored.
CREATE OR REPLACE VIEW {database}.coin_changes
(
    `coin` String COMMENT 'Coin ID',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was first seen in this state',
    `previous_seen_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Last observation of the previous content: the change happened in between. NULL for the first observation',
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
    `first` Bool COMMENT 'Whether this is the first observation of all'
)
AS
SELECT
    coin,
    seen_at,
    if(number = 1, NULL, previous_at) AS previous_seen_at,
    name,
    ticker,
    usd_rate,
    usd_rate_at,
    full_decimals,
    display_decimals,
    status,
    icon_url,
    system_coin,
    collateral,
    toBool(number = 1) AS first
FROM
(
    SELECT
        coin,
        received_at AS seen_at,
        name, ticker, usd_rate, usd_rate_at, full_decimals, display_decimals, status, icon_url, system_coin, collateral,
        cityHash64(tuple(name, ticker, usd_rate, full_decimals, display_decimals, status, icon_url, system_coin, collateral)) AS content,
        row_number() OVER history AS number,
        lagInFrame(received_at) OVER history AS previous_at,
        lagInFrame(cityHash64(tuple(name, ticker, usd_rate, full_decimals, display_decimals, status, icon_url, system_coin, collateral))) OVER history AS previous_content
    FROM {database}.coin_observations
    WINDOW history AS (PARTITION BY coin ORDER BY received_at, `_offset`, `_index` ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
WHERE number = 1 OR content != previous_content;
