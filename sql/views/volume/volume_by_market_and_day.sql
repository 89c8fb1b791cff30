-- What was the trading volume per market and day, of our accounts and of all users?
--
-- The sums of fills, which has the rules of what counts once:
--   volume = sum(quantity × price of the asset), the turnover in USDC
--   vwap   = sum(quantity × YES price) / sum(quantity), over the fills with a known outcome; NULL where these have no shares
-- Sums are exact; volume and yes_value are then cut to 12 decimals.
--
-- The rows of all users are those of activity_volumes. Of our accounts, markets are read from own_volumes, and from the trades what
-- own_volumes does not hold.
-- Completeness, as fractions of the elapsed part of the day: observed is the part before complete_to; missing is the rest, in which fills
-- may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.volume_by_market_and_day
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `day` Nullable(Date) COMMENT 'Day of the exchange''s time, UTC; NULL when the trade has no time',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when absent',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(38, 12) COMMENT 'Sum of quantity × price of the taker''s asset, USDC',
    `yes_value` Decimal(38, 12) COMMENT 'Sum of quantity × price in YES terms, USDC: of a NO asset 1 less its price',
    `unpriced_trades` UInt64 COMMENT 'Fills whose outcome is unknown, so that they have no YES price: left out of yes_value and vwap',
    `unpriced_shares` Decimal(38, 12) COMMENT 'Shares of these fills',
    `vwap` Nullable(Float64) COMMENT 'Volume-weighted average price in YES terms: yes_value / (shares - unpriced_shares)',
    `observed` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the day that the history is complete for, 0 to 1; NULL when the trade has no time',
    `backfilled` Nullable(Float64) COMMENT 'Fraction of the day that was fetched from another source, 0 to 1: always 0',
    `missing` Nullable(Float64) COMMENT 'Fraction of the elapsed part of the day in which trades may be missing, 1 - observed, 0 to 1; NULL when the trade has no time',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock. own: of the account that is least complete. NULL before the first complete walks'
)
AS
WITH
    own_known AS
    (
{market_fingerprints}
    ),
    own_held AS
    (
        SELECT toString(market) AS market, sums
        FROM {database}.own_volumes FINAL
        WHERE (market, fingerprint) GLOBAL IN (SELECT market, fingerprint FROM own_known)
    ),
    own_fills AS (SELECT * FROM {database}.shared_fills WHERE market GLOBAL IN (SELECT market FROM own_held))
SELECT
    scope,
    day,
    event,
    market,
    trades,
    shares,
    volume,
    yes_value,
    unpriced_trades,
    unpriced_shares,
    vwap,
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
            event,
            market,
            trades,
            shares,
            volume,
            yes_value,
            unpriced_trades,
            unpriced_shares,
            if(shares = unpriced_shares, NULL, toFloat64(yes_value) / toFloat64(shares - unpriced_shares)) AS vwap,
            complete_to
        FROM
        (
            SELECT
                'own' AS scope,
                day,
                event,
                market,
                sum(parts.trades) AS trades,
                sum(parts.shares) AS shares,
                CAST(sum(parts.value), 'Decimal(38, 12)') AS volume,
                CAST(sum(parts.yes_value), 'Decimal(38, 12)') AS yes_value,
                sumIf(parts.trades, NOT is_priced) AS unpriced_trades,
                sumIf(parts.shares, NOT is_priced) AS unpriced_shares
            FROM
            (
                SELECT
                    day,
                    if(recorded_event != '', recorded_event, known_event) AS event,
                    market,
                    trades,
                    shares,
                    value,
                    multiIf(outcome = 'YES', value, outcome = 'NO', toDecimal256(shares, 24) - value, toDecimal256(0, 24)) AS yes_value,
                    outcome != '' AS is_priced
                FROM
                (
                    SELECT market, one.1 AS day, one.2 AS recorded_event, one.3 AS asset, one.4 AS trades, one.5 AS shares, one.6 AS value
                    FROM (SELECT market, arrayJoin(sums) AS one FROM own_held)
                ) AS held_sums
                LEFT JOIN (SELECT asset, outcome FROM {database}.assets) AS known_assets USING (asset)
                LEFT JOIN (SELECT market, event AS known_event FROM {database}.markets) AS known_markets USING (market)
                UNION ALL
                -- What own_volumes does not hold: fills with two records, and those of markets with later trades.
                SELECT
                    toDate(executed_at) AS day,
                    event,
                    market,
                    toUInt64(1) AS trades,
                    quantity AS shares,
                    toDecimal256(quantity, 12) * toDecimal256(price, 12) AS value,
                    toDecimal256(quantity, 12) * toDecimal256(ifNull(yes_price, toDecimal128(0, 12)), 12) AS yes_value,
                    yes_price IS NOT NULL AS is_priced
                FROM
                (
                    SELECT executed_at, event, market, quantity, price, yes_price
                    FROM {database}.fills
                    WHERE scope = 'own' AND market GLOBAL IN (SELECT market FROM own_known WHERE market GLOBAL NOT IN (SELECT market FROM own_held))
                    UNION ALL
                    SELECT executed_at, event, market, quantity, price, yes_price
                    FROM
                    (
{priced_own_fills}
                    )
                )
            ) AS parts
            GROUP BY day, event, market
            UNION ALL
            SELECT 'all' AS scope, day, event, market, trades, shares, volume, yes_value, unpriced_trades, unpriced_shares
            FROM {database}.activity_volumes
        ) AS traded
        LEFT JOIN (SELECT scope, complete_to FROM {database}.volume_completeness) AS known_to USING (scope)
    )
);
