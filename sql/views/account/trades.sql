-- What did our accounts trade?
--
-- One row per side of a fill. If two of our accounts traded with each other, the fill has two rows with one `trade_id`;
-- volume_by_market_and_day counts it once. `trade_order` sorts the trades of an account from the oldest to the newest, also
-- those of one moment, because their order changes the cost of a position.
--
-- The exchange lists the newest trade first, and only adds trades in front. A pass reads the pages from page 0 on and skips
-- no trade: new trades only move the others to pages that it reads later. So a trade that was last listed by a later pass than
-- another one is newer, and of two trades that the same pass listed last, the one on the later page, or further down on the
-- same page, is older. That holds for passes that ended early too.
--
-- A record that is listed again counts once, with what the later listing says, also if that names another asset of the market. A
-- record keeps its market: a matching engine has one order book for each, and the history can be listed by market. If the exchange
-- ever listed a record with another market, it would count as two; such records have one trade_record_id.
CREATE OR REPLACE VIEW {database}.trades
(
    `account` String COMMENT 'Configured name of the account',
    `trade_record_id` String COMMENT 'ID of this side of the fill',
    `trade_id` String COMMENT 'ID of the fill, which both sides share; empty when absent',
    `user_id` String COMMENT 'User ID; empty when absent',
    `order_id` String COMMENT 'Order ID; empty when absent',
    `side` String COMMENT 'BUY or SELL; empty when absent',
    `event` String COMMENT 'Event ID; empty when absent',
    `market` String COMMENT 'Market ID (outcome ID); empty when absent',
    `asset` String COMMENT 'ID of the asset that this side traded: where a pair of YES and NO was minted or merged, each side its own; empty when absent',
    `quantity` Decimal(38, 12) COMMENT 'Shares',
    `price` Decimal(38, 12) COMMENT 'USDC per share of the asset of this side',
    `fee` Nullable(Decimal(38, 12)) COMMENT 'Fee that this side paid, USDC',
    `executed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was executed, by the exchange',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was last received',
    `trade_order` Tuple(executed_at DateTime64(6, 'UTC'), pass_began_at DateTime64(6, 'UTC'), page Int64, `index` Int64) COMMENT 'Sort key of the trades of an account, oldest first'
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
    (ifNull(executed_at, received_at), pass_began_at, -toInt64(page), -toInt64(`_index`)) AS trade_order
FROM {database}.trade_records FINAL
-- All rows of a trade have the same market, so its index may be used before they are merged.
SETTINGS use_skip_indexes_if_final_exact_mode = 0;
