-- How did the description of a market change?
--
-- Every observation whose content differs from the previous one; `first` is true for the first observation. Prices are
-- ignored; they are in price_ticks and market_observations.
CREATE OR REPLACE VIEW {database}.market_changes
(
    `market` String COMMENT 'Market ID',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was first seen in this state',
    `previous_seen_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Last observation of the previous content: the change happened in between. NULL for the first observation',
    `event` String COMMENT 'Event ID',
    `name` Nullable(String) COMMENT 'Name of the market',
    `yes_asset` Nullable(String) COMMENT 'ID of the YES asset',
    `no_asset` Nullable(String) COMMENT 'ID of the NO asset',
    `first` Bool COMMENT 'Whether this is the first observation of all'
)
AS
SELECT
    market,
    seen_at,
    if(number = 1, NULL, previous_at) AS previous_seen_at,
    event,
    name,
    yes_asset,
    no_asset,
    toBool(number = 1) AS first
FROM
(
    SELECT
        market,
        received_at AS seen_at,
        event, name, yes_asset, no_asset,
        cityHash64(tuple(event, name, yes_asset, no_asset)) AS content,
        row_number() OVER history AS number,
        lagInFrame(received_at) OVER history AS previous_at,
        lagInFrame(cityHash64(tuple(event, name, yes_asset, no_asset))) OVER history AS previous_content
    FROM {database}.market_observations
    WINDOW history AS (PARTITION BY market ORDER BY received_at, `_offset`, `_index` ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
WHERE number = 1 OR content != previous_content;
