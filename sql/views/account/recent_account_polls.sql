-- Which of the latest polls of an account's holdings and open orders are complete, with all their rows stored?
--
-- The rows of account_polls among the last ten complete receipts per account and list, of those whose poll IDs have the same hash
-- modulo 64 only the last one, so that the query does not get slower as polls accumulate.
CREATE OR REPLACE VIEW {database}.recent_account_polls
(
    `list` String COMMENT 'positions, active-orders, balances or tpsl-orders',
    `account` String COMMENT 'Configured name of the account',
    `poll_id` String COMMENT 'UUID of the poll',
    `started_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started',
    `finished_at` DateTime64(6, 'UTC') COMMENT 'When its receipt was written'
)
AS
WITH
    (
        SELECT groupArray((list, account, poll_id, operation, pages, started_at, finished_at))
        FROM
        (
            SELECT
                transform(operation, ['open-positions', 'full-balances'], ['positions', 'balances'], operation) AS list, operation, account,
                last.2 AS poll_id, last.3 AS started_at, last.1 AS finished_at, last.4 AS pages
            FROM
            (
                SELECT toString(poll_slots.operation) AS operation, subject AS account, slot, max(last_poll) AS last
                FROM {database}.poll_slots
                WHERE poll_slots.operation IN ('open-positions', 'active-orders', 'balances', 'full-balances', 'tpsl-orders')
                GROUP BY operation, account, slot
            )
            ORDER BY finished_at DESC, poll_id
            LIMIT 10 BY list, account
        )
    ) AS receipts,
    -- Months of pages and rows before it are not read. A day earlier, because clocks may be set back.
    arrayMin(receipts.6) - toIntervalDay(1) AS rows_from,
    candidates AS
    (
        SELECT one.1 AS list, one.2 AS account, one.3 AS poll_id, one.4 AS operation, one.5 AS pages, one.6 AS started_at, one.7 AS finished_at
        FROM (SELECT arrayJoin(receipts) AS one)
    )
SELECT list, account, poll_id, started_at, finished_at
FROM candidates
LEFT JOIN
(
    SELECT account, poll_id, operation, uniqExact(page, asset) AS pages_here, sum(items) AS listed
    FROM {database}.account_pages
    WHERE received_at >= rows_from AND (account, operation, poll_id) GLOBAL IN (SELECT account, operation, poll_id FROM candidates)
    GROUP BY account, poll_id, operation
) AS here USING (account, poll_id, operation)
LEFT JOIN
(
    -- One condition: ClickHouse analyses receipts again for every subquery that uses it.
    SELECT list, account, poll_id, count() AS rows_here
    FROM
    (
        SELECT 'positions' AS list, account, poll_id, received_at FROM {database}.position_observations
        UNION ALL
        SELECT 'active-orders' AS list, account, poll_id, received_at FROM {database}.active_order_observations
        UNION ALL
        SELECT 'balances' AS list, account, poll_id, received_at FROM {database}.balance_observations
        UNION ALL
        SELECT 'tpsl-orders' AS list, account, poll_id, received_at FROM {database}.tpsl_order_observations
    )
    WHERE received_at >= rows_from AND (account, poll_id) GLOBAL IN (SELECT account, poll_id FROM candidates)
    GROUP BY list, account, poll_id
) AS found USING (list, account, poll_id)
WHERE pages_here >= pages AND rows_here >= listed;
