-- Which orders did our accounts place, and what is their state?
--
-- Every order once, as last seen. Its earlier states are in order_changes.
CREATE OR REPLACE VIEW {database}.orders
(
    `account` String COMMENT 'Configured name of the account',
    `order_id` String COMMENT 'Order ID',
    `user_id` String COMMENT 'User ID; empty when absent',
    `event` String COMMENT 'Event ID; empty when absent',
    `market` String COMMENT 'Market ID (outcome ID); empty when absent',
    `asset` String COMMENT 'Asset ID; empty when absent',
    `side` String COMMENT 'BUY or SELL; empty when absent',
    `type` String COMMENT 'LIMIT or MARKET; empty when absent',
    `status` String COMMENT 'Status, such as ACTIVE, FILLED, CANCELLED or FAILED; empty when absent',
    `price` Nullable(Decimal(38, 12)) COMMENT 'USDC per share: the limit, or the average price of a market order',
    `original_quantity` Nullable(Decimal(38, 12)) COMMENT 'Ordered shares',
    `filled_quantity` Nullable(Decimal(38, 12)) COMMENT 'Filled shares',
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
