-- What did our accounts trade?
--
-- One row per side of a fill. If two of our accounts traded with each other, the fill has two rows with one `trade_id`;
-- volume_by_market_and_day counts it once. `sequence` orders the trades of an account as they happened, also those of the
-- same moment, where the order matters for the cost of a position: the exchange lists the newest trade first, so within one
-- poll a later entry is the earlier trade, and entries of an earlier poll are older than those of a later one.
CREATE OR REPLACE VIEW {database}.trades
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `trade_record_id` String COMMENT 'ID of this side of the fill',
    `trade_id` String COMMENT 'ID of the fill, which both sides share; empty when absent',
    `user_id` LowCardinality(String) COMMENT 'User ID; empty when absent',
    `order_id` String COMMENT 'Order ID; empty when absent',
    `side` LowCardinality(String) COMMENT 'BUY or SELL; empty when absent',
    `event` LowCardinality(String) COMMENT 'Event ID; empty when absent',
    `market` LowCardinality(String) COMMENT 'Market ID (outcome ID); empty when absent',
    `asset` LowCardinality(String) COMMENT 'ID of the asset that this side traded: where a pair of YES and NO was minted or merged, each side its own; empty when absent',
    `quantity` Decimal(38, 12) COMMENT 'Shares',
    `price` Decimal(38, 12) COMMENT 'USDC per share of the asset of this side',
    `fee` Nullable(Decimal(38, 12)) COMMENT 'Fee that this side paid, USDC',
    `executed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it happened, by the exchange',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was last received',
    `sequence` Tuple(executed_at DateTime64(6, 'UTC'), poll_began_at DateTime64(6, 'UTC'), page Int64, `index` Int64) COMMENT 'Orders the trades of an account: by time, then by when the poll that last showed it began, then backwards by its position in the list'
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
