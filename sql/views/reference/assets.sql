-- Which outcome assets exist, and to which market and outcome does each belong?
--
-- Every market has a YES and a NO asset, taken from the last observation of the market.
CREATE OR REPLACE VIEW {database}.assets
(
    `asset` String COMMENT 'Asset ID',
    `outcome` String COMMENT 'YES or NO',
    `market` String COMMENT 'Market ID',
    `event` String COMMENT 'Event ID',
    `market_name` Nullable(String) COMMENT 'Name of the market',
    `price` Nullable(Float64) COMMENT 'Last price in event search, 0 to 1',
    `first_seen_at` DateTime64(6, 'UTC') COMMENT 'When event search first listed the market',
    `last_seen_at` DateTime64(6, 'UTC') COMMENT 'When event search last listed the market'
)
AS
SELECT
    assumeNotNull(side.1) AS asset,
    side.2 AS outcome,
    market,
    event,
    name AS market_name,
    side.3 AS price,
    first_seen_at,
    last_seen_at
FROM {database}.markets
ARRAY JOIN [(yes_asset, 'YES', yes_price), (no_asset, 'NO', no_price)] AS side
WHERE side.1 IS NOT NULL;
