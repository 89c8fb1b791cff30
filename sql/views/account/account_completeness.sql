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
    SELECT toString(account) AS account, max(operation = 'transactions') AS read_transactions
    FROM {database}.account_lists
    WHERE account != '' AND operation IN ('trades', 'transactions')
    GROUP BY account
) AS pages
LEFT JOIN
(
    SELECT toString(account) AS account, maxIf(complete_to, operation = 'trades') AS trades_to, maxIf(complete_to, operation = 'transactions') AS transactions_to
    FROM {database}.history_completeness
    GROUP BY account
) AS known USING (account);
