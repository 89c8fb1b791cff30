-- What was the trading volume per day, of our accounts and of everybody?
--
-- The sums of volume_by_market_and_day, which has the formulas. An average price across markets has no meaning: see
-- yes_value and vwap in volume_by_market.
CREATE OR REPLACE VIEW {database}.volume_by_day
(
    `scope` String COMMENT 'own: trades of our accounts. everybody: the activity feed',
    `day` Nullable(Date) COMMENT 'Day of the exchange''s time, UTC; NULL where the trade does not say its time',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(76, 24) COMMENT 'Sum of quantity × price of the asset of the taker, USDC'
)
AS
SELECT
    scope,
    day,
    sum(volume_by_market_and_day.trades) AS trades,
    sum(volume_by_market_and_day.shares) AS shares,
    sum(volume_by_market_and_day.volume) AS volume
FROM {database}.volume_by_market_and_day
GROUP BY scope, day;
