-- What was the trading volume per event, of our accounts and of all users?
--
-- The sums of volume_by_market_and_day, which has the formulas. An average price across markets has no meaning: see
-- yes_value and vwap in volume_by_market. How many users traded is in traders_between and traders_by_period.
CREATE OR REPLACE VIEW {database}.volume_by_event
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `event` String COMMENT 'Event ID; empty when unknown',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(38, 12) COMMENT 'Sum of quantity × price of the taker''s asset, USDC',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
SELECT
    scope,
    event,
    sum(volume_by_market_and_day.trades) AS trades,
    sum(volume_by_market_and_day.shares) AS shares,
    sum(volume_by_market_and_day.volume) AS volume,
    any(volume_by_market_and_day.complete_to) AS complete_to
FROM {database}.volume_by_market_and_day
GROUP BY scope, event;
