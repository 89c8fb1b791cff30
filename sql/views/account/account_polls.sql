-- Which polls of an account's holdings and open orders are complete, with all their rows stored?
--
-- Every poll of positions, active orders, balances or TP/SL orders whose receipt is complete, whose pages are all in
-- account_pages, and whose rows are all in the table of the list. Receipts and pages are on different topics, and pages
-- and rows go into different tables, so any of them may arrive first.
CREATE OR REPLACE VIEW {database}.account_polls
(
    `list` String COMMENT 'positions, active-orders, balances or tpsl-orders',
    `account` String COMMENT 'Configured name of the account',
    `poll_id` String COMMENT 'UUID of the poll',
    `started_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started',
    `finished_at` DateTime64(6, 'UTC') COMMENT 'When its receipt was written'
)
AS
SELECT list, account, poll_id, started_at, finished_at
FROM
(
    SELECT transform(operation, ['open-positions', 'full-balances'], ['positions', 'balances'], operation) AS list, operation, subject AS account, poll_id, started_at, finished_at, pages
    FROM {database}.polls
    WHERE outcome = 'complete' AND operation IN ('open-positions', 'active-orders', 'balances', 'full-balances', 'tpsl-orders')
) AS receipts
LEFT JOIN
(
    SELECT operation, account, poll_id, uniqExact(page, asset) AS pages_here, sum(items) AS listed
    FROM {database}.account_pages
    GROUP BY operation, account, poll_id
) AS here USING (operation, account, poll_id)
LEFT JOIN
(
    SELECT 'positions' AS list, account, poll_id, count() AS rows_here FROM {database}.position_observations GROUP BY account, poll_id
    UNION ALL
    SELECT 'active-orders' AS list, account, poll_id, count() AS rows_here FROM {database}.active_order_observations GROUP BY account, poll_id
    UNION ALL
    SELECT 'balances' AS list, account, poll_id, count() AS rows_here FROM {database}.balance_observations GROUP BY account, poll_id
    UNION ALL
    SELECT 'tpsl-orders' AS list, account, poll_id, count() AS rows_here FROM {database}.tpsl_order_observations GROUP BY account, poll_id
) AS found USING (list, account, poll_id)
WHERE pages_here >= pages AND rows_here >= listed;
