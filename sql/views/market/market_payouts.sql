-- What did our accounts get when a market was resolved?
--
-- One row per market that has payouts. resolutions says what follows from them.
CREATE OR REPLACE VIEW {database}.market_payouts
(
    `market` String COMMENT 'Market ID',
    `yes_payouts` UInt64 COMMENT 'Number of payouts of the YES asset',
    `no_payouts` UInt64 COMMENT 'Number of payouts of the NO asset',
    `yes_amount` Decimal(38, 12) COMMENT 'Sum of the payouts of the YES asset, USDC',
    `no_amount` Decimal(38, 12) COMMENT 'Sum of the payouts of the NO asset, USDC',
    `yes_amount_of_known` Decimal(38, 12) COMMENT 'yes_amount of accounts whose trades up to the payout are all stored, USDC',
    `no_amount_of_known` Decimal(38, 12) COMMENT 'no_amount of these accounts, USDC',
    `yes_shares` Decimal(38, 12) COMMENT 'YES shares that these accounts held',
    `no_shares` Decimal(38, 12) COMMENT 'NO shares that these accounts held',
    `first_paid_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the first payout was made, by the exchange'
)
AS
WITH
    -- A constant: ClickHouse plans a query that has the view in a join many times slower.
    (SELECT groupArray((account, complete_to)) FROM {database}.account_completeness) AS completeness
SELECT
    market,
    countIf(outcome = 'YES') AS yes_payouts,
    countIf(outcome = 'NO') AS no_payouts,
    sumIf(amount, outcome = 'YES') AS yes_amount,
    sumIf(amount, outcome = 'NO') AS no_amount,
    -- The sums of the accounts whose shares are known.
    sumIf(amount, outcome = 'YES' AND is_complete) AS yes_amount_of_known,
    sumIf(amount, outcome = 'NO' AND is_complete) AS no_amount_of_known,
    sumIf(shares, outcome = 'YES' AND is_complete) AS yes_shares,
    sumIf(shares, outcome = 'NO' AND is_complete) AS no_shares,
    min(paid_at) AS first_paid_at
FROM
(
    SELECT account, asset, amount, paid_at, shares, ifNull(arrayFirst(known -> known.1 = account, completeness).2 >= paid_at, false) AS is_complete
    FROM
    (
        -- Not a join, which ClickHouse plans slowly.
        SELECT account, asset, sum(parts.amount) AS amount, max(parts.paid_at) AS paid_at, sum(parts.shares) AS shares
        FROM
        (
            SELECT account, asset, amount, paid_at, toDecimal128(0, 12) AS shares FROM {database}.payouts
            UNION ALL
            SELECT account, asset, toDecimal128(0, 12) AS amount, NULL AS paid_at, multiIf(side = 'BUY', quantity, side = 'SELL', -quantity, toDecimal128(0, 12)) AS shares
            FROM {database}.trades
            WHERE (account, asset) GLOBAL IN (SELECT account, asset FROM {database}.payouts)
        ) AS parts
        GROUP BY account, asset
    )
) AS paid
INNER JOIN (SELECT asset, market, outcome FROM {database}.assets) AS assets USING (asset)
GROUP BY market;
