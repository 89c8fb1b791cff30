-- How did the balances of our accounts change?
--
-- Two logs, distinguished by `source`, because a poll's answer may be older than a stream message that was received
-- before it. `poll` has the differences from each complete poll to the next (a balance that is no longer listed is 0),
-- `stream` the differences from one message of the balance stream to the next.
CREATE OR REPLACE VIEW {database}.balance_changes
(
    `account` String COMMENT 'Configured name of the account',
    `asset` String COMMENT 'Asset ID: a coin, or an outcome asset',
    `source` String COMMENT 'poll or stream',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'poll: start of the first poll with this state. stream: when the message was received',
    `balance` Decimal(38, 12) COMMENT 'Total including what orders locked: USDC or shares',
    `free` Nullable(Decimal(38, 12)) COMMENT 'Amount not locked by orders: USDC or shares'
)
AS
SELECT account, asset, 'poll' AS source, change.1 AS seen_at, change.2 AS balance, change.3 AS free
FROM
(
    SELECT
        account, asset, poll_number, started_at, next_started_at, content,
        lagInFrame(poll_number) OVER history AS previous_number,
        lagInFrame(content) OVER history AS previous_content,
        leadInFrame(poll_number) OVER history AS next_number
    FROM
    (
        SELECT CAST(account, 'String') AS account, asset, poll_id, argMax((balance_observations.balance, balance_observations.free), (received_at, `_offset`, `_index`)) AS content
        FROM {database}.balance_observations
        GROUP BY account, poll_id, asset
    ) AS rows
    INNER JOIN
    (
        SELECT
            account, poll_id, started_at,
            row_number() OVER polls AS poll_number,
            leadInFrame(toNullable(started_at)) OVER polls AS next_started_at
        FROM {database}.account_polls
        WHERE list = 'balances'
        WINDOW polls AS (PARTITION BY account ORDER BY finished_at, poll_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ) AS numbered USING (account, poll_id)
    WINDOW history AS (PARTITION BY account, asset ORDER BY poll_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
) AS observed
ARRAY JOIN arrayConcat(
    if(previous_number = 0 OR previous_number + 1 != poll_number OR previous_content != content, [(started_at, content.1, content.2)], []),
    -- It is not in the next poll.
    if(next_number != poll_number + 1 AND next_started_at IS NOT NULL, [(assumeNotNull(next_started_at), toDecimal128(0, 12), toDecimal128(0, 12))], [])
) AS change
UNION ALL
SELECT account, asset, 'stream' AS source, received_at AS seen_at, balance, free
FROM
(
    SELECT account, asset, received_at, balance, free,
        row_number() OVER history AS number,
        lagInFrame(tuple(balance, free)) OVER history AS previous_content
    FROM {database}.balance_updates
    WINDOW history AS (PARTITION BY account, asset ORDER BY received_at, `_offset`, `_index` ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
WHERE number = 1 OR previous_content != (balance, free);
