-- What did our accounts trade?
--
-- Every side of a fill once. When two of our accounts traded with each other, the fill is here twice, under one ID in
-- `trade`; volume_by_market_and_day counts it once. `sequence` puts the trades of an account in the order in which they happened, also
-- those of the same moment, where the order matters for what a position cost: the exchange lists trades with the newest
-- first, so of two that one poll showed the later in the list is the earlier trade, and what an earlier poll showed last is
-- older than what a later one did.
CREATE OR REPLACE VIEW {database}.trades
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `trade_record_id` String COMMENT 'ID of this side of the fill',
    `trade_id` String COMMENT 'ID of the fill, which both sides share; empty when not said',
    `user_id` LowCardinality(String) COMMENT 'User ID; empty when not said',
    `order_id` String COMMENT 'Order ID; empty when not said',
    `side` LowCardinality(String) COMMENT 'BUY or SELL; empty when not said',
    `event` LowCardinality(String) COMMENT 'Event ID; empty when not said',
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID); empty when not said',
    `asset` LowCardinality(String) COMMENT 'ID of the asset that this side traded: where a pair of YES and NO was minted or merged, each side its own; empty when not said',
    `quantity` Decimal(38, 12) COMMENT 'Shares',
    `price` Decimal(38, 12) COMMENT 'USDC per share of the asset of this side',
    `fee` Nullable(Decimal(38, 12)) COMMENT 'Fee that this side paid, USDC',
    `executed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it happened, by the exchange',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was last received',
    `sequence` Tuple(executed_at DateTime64(6, 'UTC'), poll_began_at DateTime64(6, 'UTC'), page Int64, place Int64) COMMENT 'Orders the trades of an account: by time, then by when the poll that last showed it began, then backwards by its place in the list'
)
AS
SELECT
    account,
    trade_record_id,
    trade_id,
    user_id,
    order_id,
    side,
    event,
    market,
    asset,
    quantity,
    price,
    fee,
    executed_at,
    received_at AS seen_at,
    (ifNull(executed_at, received_at), poll_began_at, -toInt64(page), -toInt64(`_index`)) AS sequence
FROM {database}.trade_records AS seen FINAL
LEFT JOIN
(
    SELECT account, poll_id, min(received_at) AS poll_began_at
    FROM {database}.trade_records
    GROUP BY account, poll_id
) AS polled USING (account, poll_id);
