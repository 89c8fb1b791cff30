-- Which fills have two records of our accounts?
--
-- One row per trade_id that two of our trade records have: both sides are ours, or one record is stored twice. The row is the side that is in the activity feed
-- (taken as the taker's) or, if neither is there, the one that paid the larger fee. The view fills has them with all others.
CREATE OR REPLACE VIEW {database}.shared_fills
(
    `fill_id` String COMMENT 'ID of the fill (trade_id)',
    `recorded_event` String COMMENT 'Event ID of the record; empty when absent',
    `market` String COMMENT 'Market ID; empty when absent',
    `asset` String COMMENT 'Asset ID; empty when absent',
    `side` String COMMENT 'BUY or SELL; empty when absent',
    `quantity` Decimal(38, 12) COMMENT 'Shares',
    `price` Decimal(38, 12) COMMENT 'USDC per share of the asset',
    `fee` Decimal(38, 12) COMMENT 'Sum of the fees of our sides, USDC',
    `executed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was executed, by the exchange'
)
AS
WITH
    -- A constant, so that it is computed once, and that nothing more is read if it is empty.
    (
{shared_fill_hashes}
    ) AS shared
SELECT
    trade_id AS fill_id,
    taken.1 AS recorded_event,
    taken.2 AS market,
    taken.3 AS asset,
    taken.4 AS side,
    taken.5 AS quantity,
    taken.6 AS price,
    fee,
    taken.7 AS executed_at
FROM
(
    SELECT
        trade_id,
        sum(ifNull(trades.fee, toDecimal128(0, 12))) AS fee,
        argMax((event, market, asset, side, quantity, price, executed_at), (trade_record_id GLOBAL IN (
            SELECT trade_record_id FROM {database}.activity_records
            WHERE trade_record_id GLOBAL IN (SELECT trade_record_id FROM {database}.trade_records WHERE notEmpty(shared) AND trade_id != '' AND cityHash64(trade_id) GLOBAL IN (SELECT arrayJoin(shared)))
        ), ifNull(trades.fee, toDecimal128(0, 12)), trade_record_id)) AS taken
    FROM {database}.trades
    WHERE notEmpty(shared) AND trade_id != '' AND cityHash64(trade_id) GLOBAL IN (SELECT arrayJoin(shared))
    GROUP BY trade_id
);
