-- How much was traded in each period, at one level: by market, outcome and side, or by category?
--
--   SELECT * FROM volume_sums(period_seconds = 3600, level = 'category') WHERE scope = 'all' ORDER BY begins_at
--
-- The sums of volume_by_period (level = 'market') and volume_by_category (level = 'category', where event, market, outcome and side
-- are empty); these views have the formulas.
-- Completeness, as fractions of the elapsed part of the period: observed is the part before complete_to; missing is the rest, in which
-- fills may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.volume_sums
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `begins_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Start of the period, by the exchange; NULL when the trade has no time',
    `category` String COMMENT 'Category of the event, as sent by the exchange; empty when unknown',
    `event` String COMMENT 'Event ID; empty when unknown, and at the level category',
    `market` String COMMENT 'Market ID; empty when absent, and at the level category',
    `outcome` String COMMENT 'YES or NO: which asset was traded; empty when unknown, and at the level category',
    `side` String COMMENT 'BUY or SELL of the side in fills; empty when absent, and at the level category',
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
FROM
(
    SELECT
        *,
        if({period_seconds:UInt32} = 2592000, begins_at + toIntervalMonth(1), begins_at + toIntervalSecond({period_seconds:UInt32})) AS ends_at,
    {history_fractions}
    FROM
    (
        SELECT
            scope,
            begins_at,
            category,
            event,
            market,
            outcome,
            side,
        {fill_sums},
            if(shares = unpriced_shares, NULL, toFloat64(yes_value) / toFloat64(shares - unpriced_shares)) AS vwap,
            if(scope = 'all', uniqExactIf(user_id, user_id != ''), NULL) AS traders,
            if(scope = 'own', sum(ifNull(fee, toDecimal128(0, 12))), NULL) AS fees,
            any(known_to.complete_to) AS complete_to
        FROM
        (
            SELECT
                scope,
                if({period_seconds:UInt32} = 2592000, toDateTime64(toStartOfMonth(executed_at), 6, 'UTC'), toStartOfInterval(executed_at, toIntervalMicrosecond(1000000 * {period_seconds:UInt32}))) AS begins_at,
                ifNull(event_category, '') AS category,
                if({level:String} = 'category', '', fills.event) AS event,
                if({level:String} = 'category', '', fills.market) AS market,
                if({level:String} = 'category', '', fills.outcome) AS outcome,
                if({level:String} = 'category', '', fills.side) AS side,
                quantity,
                price,
                yes_price,
                fee,
                user_id
            FROM (SELECT * FROM {database}.fills) AS fills
            LEFT JOIN (SELECT event, events.category AS event_category FROM {database}.events) AS known ON known.event = fills.event
            WHERE NOT throwIf({level:String} NOT IN ('market', 'category'), 'level is market or category')
        ) AS traded
        LEFT JOIN (SELECT scope, complete_to FROM {database}.volume_completeness) AS known_to USING (scope)
        GROUP BY scope, begins_at, category, event, market, outcome, side
    )
);
