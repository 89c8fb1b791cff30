-- What did our accounts get when a market was resolved?
--
-- The basis of resolutions, which says what follows: one row per market of payouts.
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
    -- Of the accounts whose shares are known.
    sumIf(amount, outcome = 'YES' AND is_complete) AS yes_amount_of_known,
    sumIf(amount, outcome = 'NO' AND is_complete) AS no_amount_of_known,
    sumIf(shares, outcome = 'YES' AND is_complete) AS yes_shares,
    sumIf(shares, outcome = 'NO' AND is_complete) AS no_shares,
    min(paid_at) AS first_paid_at
FROM
(
    SELECT account, asset, amount, paid_at, ifNull(complete_to >= paid_at, false) AS is_complete
    FROM (SELECT account, asset, amount, paid_at FROM {database}.payouts) AS paid
    LEFT JOIN (SELECT one.1 AS account, one.2 AS complete_to FROM (SELECT arrayJoin(completeness) AS one)) AS known_to USING (account)
) AS paid
INNER JOIN (SELECT asset, market, outcome FROM {database}.assets) AS assets USING (asset)
LEFT JOIN
(
    SELECT account, asset, sumIf(quantity, side = 'BUY') - sumIf(quantity, side = 'SELL') AS shares
    FROM {database}.trades
    WHERE (account, asset) GLOBAL IN (SELECT account, asset FROM {database}.payouts)
    GROUP BY account, asset
) AS held USING (account, asset)
GROUP BY market;
