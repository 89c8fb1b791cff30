-- What did our accounts receive for the shares of resolved markets?
--
-- One row per account and asset: the sum of its PAYOUT transactions that did not fail. The asset that lost has a payout of 0.
-- An account whose transactions cannot be read (they need a JWT) has no rows, and neither has a market that no account held.
CREATE OR REPLACE VIEW {database}.payouts
(
    `account` String COMMENT 'Configured name of the account',
    `asset` String COMMENT 'Asset ID',
    `amount` Decimal(38, 12) COMMENT 'Sum of the payouts, USDC',
    `paid_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the last payout was made, by the exchange'
)
AS
SELECT
    account,
    asset,
    sum(transactions.amount) AS amount,
    max(created_at) AS paid_at
FROM {database}.transactions
WHERE type = 'PAYOUT' AND status NOT IN ('FAILED', 'CANCELLED', 'CANCELED', 'REJECTED')
GROUP BY account, asset;
