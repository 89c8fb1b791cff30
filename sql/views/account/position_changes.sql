-- How did the positions of our accounts change?
--
-- The differences from each complete poll of open positions to the next: a position that appeared, has other shares or
-- another cost, or, with 0 shares, one that disappeared. A change that was reverted between two polls is not visible; trades
-- has every trade.
CREATE OR REPLACE VIEW {database}.position_changes
(
    `account` String COMMENT 'Configured name of the account',
    `asset` String COMMENT 'Asset ID',
    `order_id` String COMMENT 'ID of the order that opened it; empty when absent',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'Start of the first poll with this state',
    `shares` Decimal(38, 12) COMMENT 'Held shares; 0 when the position has disappeared',
    `available_shares` Nullable(Decimal(38, 12)) COMMENT 'Shares not locked by orders',
    `cost` Nullable(Decimal(38, 12)) COMMENT 'Cost of the shares, USDC'
)
AS
SELECT
    account,
    asset,
    order_id,
    change.1 AS seen_at,
    change.2 AS shares,
    change.3 AS available_shares,
    change.4 AS cost
FROM
(
    SELECT
        account, asset, order_id, poll_number, started_at, next_started_at, content,
        lagInFrame(poll_number) OVER history AS previous_number,
        lagInFrame(content) OVER history AS previous_content,
        leadInFrame(poll_number) OVER history AS next_number
    FROM
    (
        SELECT
            CAST(account, 'String') AS account, asset, order_id, poll_id,
            argMax((position_observations.shares, position_observations.available_shares, position_observations.cost), (received_at, `_offset`, `_index`)) AS content
        FROM {database}.position_observations
        GROUP BY account, poll_id, asset, order_id
    ) AS rows
    INNER JOIN
    (
        SELECT
            account, poll_id, started_at,
            row_number() OVER polls AS poll_number,
            leadInFrame(toNullable(started_at)) OVER polls AS next_started_at
        FROM {database}.account_polls
        WHERE list = 'positions'
        WINDOW polls AS (PARTITION BY account ORDER BY finished_at, poll_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ) AS numbered USING (account, poll_id)
    WINDOW history AS (PARTITION BY account, asset, order_id ORDER BY poll_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
) AS observed
ARRAY JOIN arrayConcat(
    if(previous_number = 0 OR previous_number + 1 != poll_number OR previous_content != content, [(started_at, content.1, content.2, content.3)], []),
    -- It has disappeared from the next poll.
    if(next_number != poll_number + 1 AND next_started_at IS NOT NULL, [(assumeNotNull(next_started_at), toDecimal128(0, 12), toDecimal128(0, 12), toDecimal128(0, 12))], [])
) AS change;
