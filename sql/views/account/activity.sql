-- Which trades were made on the whole exchange, and by whom?
--
-- Every item of the activity feed once, whichever account polled it: one per fill, from the side of the taker. The volumes
-- of the event and of the user are those at the time when the item was last received, not at the time of the trade.
CREATE OR REPLACE VIEW {database}.activity
(
    `trade_record_id` String COMMENT 'ID of the side of the fill that the feed shows',
    `user_id` String COMMENT 'User ID; empty when absent',
    `username` Nullable(String) COMMENT 'Name of the user, or its HMAC-SHA-256 (64 hexadecimal digits) where --username-key is set',
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID); empty when absent',
    `outcome_name` Nullable(String) COMMENT 'Name of the market',
    `position` LowCardinality(String) COMMENT 'Direction of the position, such as YES or NO; empty when absent',
    `side` LowCardinality(String) COMMENT 'BUY or SELL; empty when absent',
    `quantity` Decimal(38, 12) COMMENT 'Shares',
    `price` Decimal(38, 12) COMMENT 'USDC per share',
    `executed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it happened, by the exchange',
    `event_question` Nullable(String) COMMENT 'Question of the event',
    `event_slug` LowCardinality(String) COMMENT 'Short name of the event in addresses; empty when absent',
    `token_name` LowCardinality(String) COMMENT 'Name of the asset, such as YES; empty when absent',
    `is_primary` Nullable(Bool) COMMENT 'Whether it is the YES asset',
    `event_volume` Nullable(Decimal(38, 12)) COMMENT 'Volume of the event when the item was last received, USDC, by the exchange',
    `user_volume` Nullable(Decimal(38, 12)) COMMENT 'Volume of the user when the item was last received, USDC, by the exchange',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was last received'
)
AS
SELECT
    trade_record_id,
    user_id,
    username,
    market,
    outcome_name,
    position,
    side,
    quantity,
    price,
    executed_at,
    event_question,
    event_slug,
    token_name,
    is_primary,
    event_volume,
    user_volume,
    received_at AS seen_at
FROM {database}.activity_records FINAL;
