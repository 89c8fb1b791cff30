-- What was the trading volume per day, of our accounts and of all users?
--
-- The sums of volume_by_market_and_day, which has the formulas. An average price across markets has no meaning: see
-- yes_value and vwap in volume_by_market.
-- Completeness, as fractions of the elapsed part of the day: observed is the part before complete_to; missing is the rest, in which fills
-- may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.volume_by_day
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `day` Nullable(Date) COMMENT 'Day of the exchange''s time, UTC; NULL when the trade has no time',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(38, 12) COMMENT 'Sum of quantity × price of the taker''s asset, USDC',
    `observed` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the day that the history is complete for, 0 to 1; NULL when the trade has no time',
    `backfilled` Nullable(Float64) COMMENT 'Fraction of the day that was fetched from another source, 0 to 1: always 0',
    `missing` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the day in which trades may be missing, 1 - observed, 0 to 1; NULL when the trade has no time',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
SELECT
    scope,
    day,
    trades,
    shares,
    volume,
    observed,
    backfilled,
    missing,
    complete_to
FROM
(
    SELECT
        *,
        toDateTime64(day, 6, 'UTC') AS begins_at,
        begins_at + toIntervalDay(1) AS ends_at,
{history_fractions}
    FROM
    (
        SELECT
            scope,
            day,
            sum(volume_by_market_and_day.trades) AS trades,
            sum(volume_by_market_and_day.shares) AS shares,
            sum(volume_by_market_and_day.volume) AS volume,
            any(volume_by_market_and_day.complete_to) AS complete_to
        FROM {database}.volume_by_market_and_day
        GROUP BY scope, day
    )
);
