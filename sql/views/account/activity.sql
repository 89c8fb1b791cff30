-- Which trades were made on the whole exchange, and by whom?
--
-- Every item of the activity feed once, regardless of the polling account: one per fill. The interface does not say whose
-- side an item shows; views take it as the taker's. The volumes of the event and of the user are those when the item was last
-- received, not at the time of the trade. The feed names no event ID: it is that of the market in event search. yes_price =
-- price, of a NO asset 1 - price; an item without an outcome has none.
CREATE OR REPLACE VIEW {database}.activity
(
    `trade_record_id` String COMMENT 'ID of the side of the fill in the feed',
    `user_id` String COMMENT 'User ID; empty when absent',
    `username` Nullable(String) COMMENT 'Name of the user, or its HMAC-SHA-256 (64 hexadecimal digits) where --username-key is set',
    `event` String COMMENT 'Event ID; empty when event search never listed the market',
    `market` String COMMENT 'Market ID (outcome ID); empty when absent',
    `outcome_name` Nullable(String) COMMENT 'Name of the market',
    `outcome` String COMMENT 'YES or NO, by is_primary, position or token_name; empty when none of them says it',
    `position` String COMMENT 'Direction of the position, such as YES or NO; empty when absent',
    `side` String COMMENT 'BUY or SELL; empty when absent',
    `quantity` Decimal(38, 12) COMMENT 'Shares',
    `price` Decimal(38, 12) COMMENT 'USDC per share',
    `yes_price` Nullable(Decimal(38, 12)) COMMENT 'USDC per share in YES terms: of a NO asset 1 - price; NULL when the outcome is unknown',
    `executed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was executed, by the exchange',
    `event_question` Nullable(String) COMMENT 'Question of the event',
    `event_slug` String COMMENT 'Short name of the event in addresses; empty when absent',
    `token_name` String COMMENT 'Name of the asset, such as YES; empty when absent',
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
    event,
    market,
    outcome_name,
{activity_outcome},
    position,
    side,
    quantity,
    price,
    multiIf(outcome = 'YES', price, outcome = 'NO', 1 - price, NULL) AS yes_price,
    executed_at,
    event_question,
    event_slug,
    token_name,
    is_primary,
    event_volume,
    user_volume,
    received_at AS seen_at
FROM (SELECT *, toString(market) AS market_id FROM {database}.activity_records FINAL) AS items
LEFT JOIN (SELECT market AS market_id, event FROM {database}.markets) AS known USING (market_id);
