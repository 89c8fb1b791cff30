-- What was the trading volume per market and day, of our accounts and of all users?
--
-- The sums of fills, which has the rules of what counts once:
--   volume = sum(quantity × price of the asset), the turnover in USDC
--   vwap   = sum(quantity × YES price) / sum(quantity), over the fills with a known outcome; NULL where these have no shares
-- Sums are exact; volume and yes_value are then cut to 12 decimals.
CREATE OR REPLACE VIEW {database}.volume_by_market_and_day
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `day` Nullable(Date) COMMENT 'Day of the exchange''s time, UTC; NULL when the trade has no time',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when absent',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(38, 12) COMMENT 'Sum of quantity × price of the asset of the taker, USDC',
    `yes_value` Decimal(38, 12) COMMENT 'Sum of quantity × price in YES terms, USDC: of a NO asset 1 less its price',
    `unpriced_trades` UInt64 COMMENT 'Fills whose outcome is unknown, so that they have no YES price: left out of yes_value and vwap',
    `unpriced_shares` Decimal(38, 12) COMMENT 'Shares of these fills',
    `vwap` Nullable(Float64) COMMENT 'Volume-weighted average price in YES terms: yes_value / (shares - unpriced_shares)',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
SELECT
    scope,
    toDate(executed_at) AS day,
    event,
    market,
    count() AS trades,
    sum(quantity) AS shares,
    sum(toDecimal256(quantity, 12) * toDecimal256(price, 12)) AS volume,
    sum(toDecimal256(quantity, 12) * toDecimal256(ifNull(yes_price, toDecimal128(0, 12)), 12)) AS yes_value,
    countIf(yes_price IS NULL) AS unpriced_trades,
    sumIf(quantity, yes_price IS NULL) AS unpriced_shares,
    if(shares = unpriced_shares, NULL, toFloat64(yes_value) / toFloat64(shares - unpriced_shares)) AS vwap,
    any(known_to.complete_to) AS complete_to
FROM (SELECT * FROM {database}.fills) AS fills
LEFT JOIN (SELECT scope, complete_to FROM {database}.volume_completeness) AS known_to USING (scope)
GROUP BY scope, day, event, market;
