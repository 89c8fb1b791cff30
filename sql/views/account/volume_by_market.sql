-- What was the trading volume per market, of our accounts and of everybody?
--
-- The sums of volume_by_market_and_day, which has the formulas.
CREATE OR REPLACE VIEW {database}.volume_by_market
(
    `scope` String COMMENT 'own: trades of our accounts. everybody: the activity feed',
    `event` String COMMENT 'Event ID; empty when it is not known',
    `market` String COMMENT 'Market ID; empty when absent',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(76, 24) COMMENT 'Sum of quantity × price of the asset of the taker, USDC',
    `yes_value` Decimal(76, 24) COMMENT 'Sum of quantity × price in YES terms, USDC: of a NO asset 1 less its price',
    `vwap` Float64 COMMENT 'Volume-weighted average price in YES terms: yes_value / shares'
)
AS
SELECT
    scope,
    event, market,
    sum(volume_by_market_and_day.trades) AS trades,
    sum(volume_by_market_and_day.shares) AS shares,
    sum(volume_by_market_and_day.volume) AS volume,
    sum(volume_by_market_and_day.yes_value) AS yes_value,
    toFloat64(yes_value) / toFloat64(shares) AS vwap
FROM {database}.volume_by_market_and_day
GROUP BY scope, event, market;
