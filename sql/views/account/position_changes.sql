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
WITH numbered AS
    (
        SELECT account, poll_id, started_at, row_number() OVER (PARTITION BY account ORDER BY finished_at, poll_id) AS poll_number
        FROM {database}.account_polls
        WHERE list = 'positions'
    ),
observed AS
    (
    SELECT account, asset, order_id, poll_number, started_at, shares, available_shares, cost,
        lagInFrame(poll_number) OVER history AS previous_number,
        lagInFrame(tuple(shares, available_shares, cost)) OVER history AS previous_content,
        leadInFrame(poll_number) OVER history AS next_number
    FROM
    (
        SELECT account, asset, order_id, poll_id, last.1 AS shares, last.2 AS available_shares, last.3 AS cost
        FROM
        (
            SELECT
                account, asset, order_id, poll_id,
                argMax((position_observations.shares, position_observations.available_shares, position_observations.cost), (received_at, `_offset`, `_index`)) AS last
            FROM {database}.position_observations
            GROUP BY account, poll_id, asset, order_id
        )
    ) AS rows
    INNER JOIN numbered USING (account, poll_id)
    WINDOW history AS (PARTITION BY account, asset, order_id ORDER BY poll_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    )
SELECT account, asset, order_id, started_at AS seen_at, shares, available_shares, cost
FROM observed
WHERE previous_number = 0 OR previous_number + 1 != poll_number OR previous_content != (shares, available_shares, cost)
UNION ALL
SELECT gone.account AS account, asset, order_id, numbered.started_at AS seen_at, toDecimal128(0, 12) AS shares, toDecimal128(0, 12) AS available_shares, toDecimal128(0, 12) AS cost
FROM (SELECT account, asset, order_id, toUInt64(poll_number + 1) AS gone_number FROM observed WHERE next_number != poll_number + 1) AS gone
INNER JOIN numbered ON numbered.account = gone.account AND numbered.poll_number = gone_number;
