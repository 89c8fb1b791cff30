-- What was the trading volume per event, of our accounts and of everybody?
--
-- The sums of volume_by_market_and_day, which has the formulas. An average price across markets has no meaning: see
-- yes_value and vwap in volume_by_market.
CREATE OR REPLACE VIEW {database}.volume_by_event
(
    `scope` String COMMENT 'own: trades of our accounts. everybody: the activity feed',
    `event` String COMMENT 'Event ID; empty when it is not known',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(76, 24) COMMENT 'Sum of quantity × price of the asset of the taker, USDC'
)
AS
SELECT
    scope,
    event,
    sum(volume_by_market_and_day.trades) AS trades,
    sum(volume_by_market_and_day.shares) AS shares,
    sum(volume_by_market_and_day.volume) AS volume
FROM {database}.volume_by_market_and_day
GROUP BY scope, event;
