-- What was the trading volume of all users per market and day?
--
-- The rows of volume_by_market_and_day with the scope all, which has the formulas, without their completeness. Days that are over are
-- read from volume_days, and from activity_records what volume_days does not hold yet.
CREATE OR REPLACE VIEW {database}.activity_volumes
(
    `day` Nullable(Date) COMMENT 'Day of the exchange''s time, UTC; NULL when the trade has no time',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when absent',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(38, 12) COMMENT 'Sum of quantity × price of the taker''s asset, USDC',
    `yes_value` Decimal(38, 12) COMMENT 'Sum of quantity × price in YES terms, USDC: of a NO asset 1 less its price',
    `unpriced_trades` UInt64 COMMENT 'Fills whose outcome is unknown, so that they have no YES price: left out of yes_value',
    `unpriced_shares` Decimal(38, 12) COMMENT 'Shares of these fills'
)
AS
WITH held AS
    (
        SELECT executed_day, rollup_id
        FROM
        (
{activity_day_fingerprints}
        ) AS days
        INNER JOIN (SELECT executed_day, rollup_id, fingerprint FROM {database}.volume_rollups FINAL) AS rollups USING (executed_day, fingerprint)
    )
SELECT day, ifNull(known_event, '') AS event, market, trades, shares, volume, yes_value, unpriced_trades, unpriced_shares
FROM
(
    SELECT toNullable(executed_day) AS day, toString(market) AS market, trades, shares, volume, yes_value, unpriced_trades, unpriced_shares
    FROM {database}.volume_days
    WHERE (executed_day, rollup_id) GLOBAL IN (SELECT executed_day, rollup_id FROM held)
    UNION ALL
    -- What volume_days does not hold yet.
    SELECT
        toDate(executed_at) AS day,
        market_id AS market,
{fill_sums}
    FROM
    (
        SELECT
            toString(market) AS market_id,
            executed_at,
            quantity,
            price,
{activity_outcome},
            multiIf(outcome = 'YES', price, outcome = 'NO', 1 - price, NULL) AS yes_price
        FROM {database}.activity_records FINAL
        WHERE executed_day GLOBAL NOT IN (SELECT executed_day FROM held)
    )
    GROUP BY day, market
) AS sums
LEFT JOIN (SELECT market, event AS known_event FROM {database}.markets) AS known USING (market);
