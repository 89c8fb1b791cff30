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
WITH numbered AS
    (
        SELECT account, poll_id, started_at, row_number() OVER (PARTITION BY account ORDER BY finished_at, poll_id) AS poll_number
        FROM {database}.account_polls
        WHERE list = 'balances'
    ),
observed AS
    (
    SELECT account, asset, poll_number, started_at, balance, free,
        lagInFrame(poll_number) OVER history AS previous_number,
        lagInFrame(tuple(balance, free)) OVER history AS previous_content,
        leadInFrame(poll_number) OVER history AS next_number
    FROM
    (
        SELECT account, asset, poll_id, balance, free
        FROM {database}.balance_observations
        ORDER BY received_at DESC, `_offset` DESC, `_index` DESC
        LIMIT 1 BY account, poll_id, asset
    ) AS rows
    INNER JOIN numbered USING (account, poll_id)
    WINDOW history AS (PARTITION BY account, asset ORDER BY poll_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    )
SELECT account, asset, 'poll' AS source, started_at AS seen_at, balance, free
FROM observed
WHERE previous_number = 0 OR previous_number + 1 != poll_number OR previous_content != (balance, free)
UNION ALL
SELECT gone.account AS account, asset, 'poll' AS source, numbered.started_at AS seen_at, toDecimal128(0, 12) AS balance, toDecimal128(0, 12) AS free
FROM (SELECT account, asset, toUInt64(poll_number + 1) AS gone_number FROM observed WHERE next_number != poll_number + 1) AS gone
INNER JOIN numbered ON numbered.account = gone.account AND numbered.poll_number = gone_number
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
