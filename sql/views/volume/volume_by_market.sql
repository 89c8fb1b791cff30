-- What was the trading volume per market, of our accounts and of all users?
--
-- The sums of volume_by_market_and_day, which has the formulas. How many users traded is in traders_between and traders_by_period.
CREATE OR REPLACE VIEW {database}.volume_by_market
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when absent',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(38, 12) COMMENT 'Sum of quantity × price of the taker''s asset, USDC',
    `yes_value` Decimal(38, 12) COMMENT 'Sum of quantity × price in YES terms, USDC: of a NO asset 1 less its price',
    `unpriced_trades` UInt64 COMMENT 'Fills whose outcome is unknown, so that they have no YES price: left out of yes_value and vwap',
    `unpriced_shares` Decimal(38, 12) COMMENT 'Shares of these fills',
    `vwap` Nullable(Float64) COMMENT 'Volume-weighted average price in YES terms: yes_value / (shares - unpriced_shares)',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
SELECT
    scope,
    event, market,
    sum(volume_by_market_and_day.trades) AS trades,
    sum(volume_by_market_and_day.shares) AS shares,
    sum(volume_by_market_and_day.volume) AS volume,
    sum(volume_by_market_and_day.yes_value) AS yes_value,
    sum(volume_by_market_and_day.unpriced_trades) AS unpriced_trades,
    sum(volume_by_market_and_day.unpriced_shares) AS unpriced_shares,
    if(shares = unpriced_shares, NULL, toFloat64(yes_value) / toFloat64(shares - unpriced_shares)) AS vwap,
    any(volume_by_market_and_day.complete_to) AS complete_to
FROM {database}.volume_by_market_and_day
GROUP BY scope, event, market;
