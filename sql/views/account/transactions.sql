-- How did money move into and out of our accounts, and what did resolved markets pay?
--
-- Every transaction once, as last seen. Only accounts with a JWT have transactions.
CREATE OR REPLACE VIEW {database}.transactions
(
    `account` String COMMENT 'Configured name of the account',
    `transaction_id` String COMMENT 'Transaction ID',
    `user_id` String COMMENT 'User ID; empty when absent',
    `asset` String COMMENT 'Asset ID: of the coin, or for PAYOUT of the outcome asset that paid; empty when absent',
    `type` String COMMENT 'Type, such as DEPOSIT, WITHDRAWAL or PAYOUT; empty when absent',
    `status` String COMMENT 'Status, such as COMPLETED; empty when absent',
    `amount` Decimal(38, 12) COMMENT 'Amount, USDC',
    `fee` Nullable(Decimal(38, 12)) COMMENT 'Fee, USDC',
    `created_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was created, by the exchange',
    `event_question` Nullable(String) COMMENT 'Question of the event of a payout',
    `event_slug` Nullable(String) COMMENT 'Short name of the event in addresses',
    `outcome_name` Nullable(String) COMMENT 'Name of the market',
    `token_name` Nullable(String) COMMENT 'Name of the asset, such as YES',
    `is_primary` Nullable(Bool) COMMENT 'Whether it is the YES asset',
    `external_transaction_id` Nullable(String) COMMENT 'ID outside of the exchange, such as on a blockchain',
    `withdrawal_address` Nullable(String) COMMENT 'Where a withdrawal went',
    `blockchain_url` Nullable(String) COMMENT 'Address of the transaction on the blockchain',
    `blockchain_name` Nullable(String) COMMENT 'Name of the blockchain',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was last received'
)
AS
SELECT
    account,
    transaction_id,
    user_id,
    asset,
    type,
    status,
    amount,
    fee,
    created_at,
    event_question,
    event_slug,
    outcome_name,
    token_name,
    is_primary,
    external_transaction_id,
    withdrawal_address,
    blockchain_url,
    blockchain_name,
    received_at AS seen_at
FROM {database}.transaction_records FINAL;
