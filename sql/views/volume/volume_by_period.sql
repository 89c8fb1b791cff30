-- How much was traded of every market in each period, by outcome and side?
--
--   SELECT * FROM volume_by_period(period_seconds = 3600) WHERE scope = 'all' AND begins_at >= now() - INTERVAL 1 DAY
--
-- One row per scope, period, market, outcome and side.
-- Periods are aligned to the Unix epoch, in exchange time: 60 is a minute, 86400 a day. 2592000 is a calendar month in UTC, of
-- 28 to 31 days. Sums of fills, which has the rules of what counts once:
--   volume = sum(quantity × price of the asset), the turnover in USDC
--   vwap   = sum(quantity × YES price) / sum(quantity), over the fills with a known outcome; NULL where these have no shares
-- Trades, shares, volume, yes_value and fees may be added up over rows of one scope, traders and vwap may not: traders_by_period has
-- those of a market, of an event and of all. A period without fills has no row; after complete_to fills may be missing. A fill
-- without a time is in the row whose begins_at is NULL.
-- Completeness, as fractions of the elapsed part of the period: observed is the part before complete_to; missing is the rest, in which
-- fills may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.volume_by_period
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `begins_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Start of the period, by the exchange; NULL when the trade has no time',
    `category` String COMMENT 'Category of the event, as sent by the exchange; empty when unknown',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when absent',
    `outcome` String COMMENT 'YES or NO: which asset was traded; empty when unknown',
    `side` String COMMENT 'BUY or SELL of the side in fills; empty when absent',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(38, 12) COMMENT 'Sum of quantity × price of the taker''s asset, USDC',
    `yes_value` Decimal(38, 12) COMMENT 'Sum of quantity × price in YES terms, USDC: of a NO asset 1 less its price',
    `unpriced_trades` UInt64 COMMENT 'Fills whose outcome is unknown, so that they have no YES price: left out of yes_value and vwap',
    `unpriced_shares` Decimal(38, 12) COMMENT 'Shares of these fills',
    `vwap` Nullable(Float64) COMMENT 'Volume-weighted average price in YES terms: yes_value / (shares - unpriced_shares)',
    `traders` Nullable(UInt64) COMMENT 'all: number of users who were the taker. own: NULL',
    `fees` Nullable(Decimal(38, 12)) COMMENT 'own: fees of our sides, USDC. all: NULL, unknown',
    `observed` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the period that the history is complete for, 0 to 1; NULL when the trade has no time',
    `backfilled` Nullable(Float64) COMMENT 'Fraction of the period that was fetched from another source, 0 to 1: always 0',
    `missing` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the period in which trades may be missing, 1 - observed, 0 to 1; NULL when the trade has no time',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
WITH
    'market' AS level,
{period_functions}
SELECT
    scope,
    begins_at,
    category,
    event,
    market,
    outcome,
    side,
    trades,
    shares,
    volume,
    yes_value,
    unpriced_trades,
    unpriced_shares,
    vwap,
    traders,
    fees,
    observed,
    backfilled,
    missing,
    complete_to
{volume_sums};
