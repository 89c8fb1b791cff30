-- Which orders did our accounts place, and what is their state?
--
-- Every order once, as last seen. Its earlier states are in order_changes.
CREATE OR REPLACE VIEW {database}.orders
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `order_id` String COMMENT 'Order ID',
    `user_id` LowCardinality(String) COMMENT 'User ID; empty when absent',
    `event` LowCardinality(String) COMMENT 'Event ID; empty when absent',
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID); empty when absent',
    `asset` LowCardinality(String) COMMENT 'Asset ID; empty when absent',
    `side` LowCardinality(String) COMMENT 'BUY or SELL; empty when absent',
    `type` LowCardinality(String) COMMENT 'LIMIT or MARKET; empty when absent',
    `status` LowCardinality(String) COMMENT 'Status, such as ACTIVE, FILLED, CANCELLED or FAILED; empty when absent',
    `price` Nullable(Decimal(38, 12)) COMMENT 'USDC per share: the limit, or what a market order paid on average',
    `original_quantity` Nullable(Decimal(38, 12)) COMMENT 'Shares that were ordered',
    `filled_quantity` Nullable(Decimal(38, 12)) COMMENT 'Shares that were filled',
    `placed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was placed, by the exchange',
    `expires_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it expires, by the exchange; NULL when it does not',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was last received'
)
AS
SELECT
    account,
    order_id,
    user_id,
    event,
    market,
    asset,
    side,
    type,
    status,
    price,
    original_quantity,
    filled_quantity,
    placed_at,
    expires_at,
    received_at AS seen_at
FROM {database}.order_records FINAL;
