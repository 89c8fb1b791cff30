-- Up to which time are the trades and the money of every account complete?
--
-- The earlier complete_to of its trades and its transactions in history_completeness, because profit and loss needs both.
-- Transactions count where at least one page of them could be read: they need a JWT.
CREATE OR REPLACE VIEW {database}.account_completeness
(
    `account` String COMMENT 'Configured name of the account',
    `trades_complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is stored, by our clock; NULL before the first complete walk',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction up to this time is stored, by our clock; NULL before the first complete walks'
)
AS
SELECT
    account,
    if(trades_to = toDateTime64(0, 6, 'UTC'), NULL, trades_to) AS trades_complete_to,
    if(read_transactions AND transactions_to = toDateTime64(0, 6, 'UTC'), NULL, if(read_transactions, least(trades_complete_to, transactions_to), trades_complete_to)) AS complete_to
FROM
(
    -- Not a join, which ClickHouse plans slowly.
    SELECT
        account,
        max(parts.read_transactions) AS read_transactions,
        max(parts.trades_to) AS trades_to,
        max(parts.transactions_to) AS transactions_to
    FROM
    (
        SELECT toString(account_lists.account) AS account, true AS is_listed, operation = 'transactions' AS read_transactions, toDateTime64(0, 6, 'UTC') AS trades_to, toDateTime64(0, 6, 'UTC') AS transactions_to
        FROM {database}.account_lists
        WHERE account != '' AND operation IN ('trades', 'transactions')
        UNION ALL
        SELECT
            history_completeness.account AS account, false AS is_listed, false AS read_transactions,
            if(operation = 'trades', complete_to, toDateTime64(0, 6, 'UTC')) AS trades_to,
            if(operation = 'transactions', complete_to, toDateTime64(0, 6, 'UTC')) AS transactions_to
        FROM {database}.history_completeness
        WHERE operation IN ('trades', 'transactions')
    ) AS parts
    GROUP BY account
    HAVING max(is_listed)
);
