-- Which poll says what an account holds and has open now?
--
-- The latest of account_polls of every account and list. Looked for among the last ten complete receipts, so that the
-- answer does not take longer with every day.
CREATE OR REPLACE VIEW {database}.latest_account_polls
(
    `list` LowCardinality(String) COMMENT 'positions, active-orders, balances or tpsl-orders',
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `poll` String COMMENT 'UUID of the poll',
    `started_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started',
    `finished_at` DateTime64(6, 'UTC') COMMENT 'When its receipt was written'
)
AS
WITH receipts AS
    (
        SELECT transform(operation, ['open-positions', 'full-balances'], ['positions', 'balances'], operation) AS list, operation, subject AS account, poll, started_at, finished_at, pages
        FROM {database}.polls
        WHERE outcome = 'complete' AND operation IN ('open-positions', 'active-orders', 'balances', 'full-balances', 'tpsl-orders')
        ORDER BY finished_at DESC, poll
        LIMIT 10 BY list, account
    )
SELECT list, account, poll, started_at, finished_at
FROM receipts
LEFT JOIN
(
    SELECT operation, account, poll, uniqExact(page, asset) AS pages_here
    FROM {database}.account_pages
    WHERE (account, operation, poll) GLOBAL IN (SELECT account, operation, poll FROM receipts)
    GROUP BY operation, account, poll
) AS here USING (operation, account, poll)
WHERE pages_here >= pages
ORDER BY finished_at DESC, poll
LIMIT 1 BY list, account;
