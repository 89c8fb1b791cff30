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
-- One aggregation of receipts, pages and rows, not a join of them. The branches of lists that are not asked for read nothing, and with
-- equal types in all branches ClickHouse pushes a filter by account down to the tables.
SELECT list, account, poll_id, max(parts.started_at) AS started_at, max(parts.finished_at) AS finished_at
FROM
(
    SELECT 'positions' AS list, subject AS account, poll_id, started_at, finished_at, pages, CAST(NULL, 'Nullable(UInt64)') AS page, toUInt64(0) AS listed, toUInt64(0) AS stored
    FROM {database}.polls WHERE outcome = 'complete' AND operation = 'open-positions'
    UNION ALL
    SELECT 'active-orders' AS list, subject AS account, poll_id, started_at, finished_at, pages, CAST(NULL, 'Nullable(UInt64)') AS page, toUInt64(0) AS listed, toUInt64(0) AS stored
    FROM {database}.polls WHERE outcome = 'complete' AND operation = 'active-orders'
    UNION ALL
    SELECT 'balances' AS list, subject AS account, poll_id, started_at, finished_at, pages, CAST(NULL, 'Nullable(UInt64)') AS page, toUInt64(0) AS listed, toUInt64(0) AS stored
    FROM {database}.polls WHERE outcome = 'complete' AND operation IN ('balances', 'full-balances')
    UNION ALL
    SELECT 'tpsl-orders' AS list, subject AS account, poll_id, started_at, finished_at, pages, CAST(NULL, 'Nullable(UInt64)') AS page, toUInt64(0) AS listed, toUInt64(0) AS stored
    FROM {database}.polls WHERE outcome = 'complete' AND operation = 'tpsl-orders'
    UNION ALL
    SELECT 'positions' AS list, CAST(account, 'String') AS account, poll_id, toDateTime64(0, 6, 'UTC') AS started_at, toDateTime64(0, 6, 'UTC') AS finished_at, toUInt32(0) AS pages, toNullable(toUInt64(account_pages.page)) AS page, toUInt64(items) AS listed, toUInt64(0) AS stored
    FROM {database}.account_pages WHERE operation = 'open-positions'
    UNION ALL
    SELECT 'active-orders' AS list, CAST(account, 'String') AS account, poll_id, toDateTime64(0, 6, 'UTC') AS started_at, toDateTime64(0, 6, 'UTC') AS finished_at, toUInt32(0) AS pages, toNullable(toUInt64(account_pages.page)) AS page, toUInt64(items) AS listed, toUInt64(0) AS stored
    FROM {database}.account_pages WHERE operation = 'active-orders'
    UNION ALL
    SELECT 'balances' AS list, CAST(account, 'String') AS account, poll_id, toDateTime64(0, 6, 'UTC') AS started_at, toDateTime64(0, 6, 'UTC') AS finished_at, toUInt32(0) AS pages, toNullable(cityHash64(page, asset)) AS page, toUInt64(items) AS listed, toUInt64(0) AS stored
    FROM {database}.account_pages WHERE operation IN ('balances', 'full-balances')
    UNION ALL
    SELECT 'tpsl-orders' AS list, CAST(account, 'String') AS account, poll_id, toDateTime64(0, 6, 'UTC') AS started_at, toDateTime64(0, 6, 'UTC') AS finished_at, toUInt32(0) AS pages, toNullable(toUInt64(account_pages.page)) AS page, toUInt64(items) AS listed, toUInt64(0) AS stored
    FROM {database}.account_pages WHERE operation = 'tpsl-orders'
    UNION ALL
    SELECT 'positions' AS list, CAST(account, 'String') AS account, poll_id, toDateTime64(0, 6, 'UTC') AS started_at, toDateTime64(0, 6, 'UTC') AS finished_at, toUInt32(0) AS pages, CAST(NULL, 'Nullable(UInt64)') AS page, toUInt64(0) AS listed, count() AS stored
    FROM {database}.position_observations GROUP BY account, poll_id
    UNION ALL
    SELECT 'active-orders' AS list, CAST(account, 'String') AS account, poll_id, toDateTime64(0, 6, 'UTC') AS started_at, toDateTime64(0, 6, 'UTC') AS finished_at, toUInt32(0) AS pages, CAST(NULL, 'Nullable(UInt64)') AS page, toUInt64(0) AS listed, count() AS stored
    FROM {database}.active_order_observations GROUP BY account, poll_id
    UNION ALL
    SELECT 'balances' AS list, CAST(account, 'String') AS account, poll_id, toDateTime64(0, 6, 'UTC') AS started_at, toDateTime64(0, 6, 'UTC') AS finished_at, toUInt32(0) AS pages, CAST(NULL, 'Nullable(UInt64)') AS page, toUInt64(0) AS listed, count() AS stored
    FROM {database}.balance_observations GROUP BY account, poll_id
    UNION ALL
    SELECT 'tpsl-orders' AS list, CAST(account, 'String') AS account, poll_id, toDateTime64(0, 6, 'UTC') AS started_at, toDateTime64(0, 6, 'UTC') AS finished_at, toUInt32(0) AS pages, CAST(NULL, 'Nullable(UInt64)') AS page, toUInt64(0) AS listed, count() AS stored
    FROM {database}.tpsl_order_observations GROUP BY account, poll_id
) AS parts
GROUP BY list, account, poll_id
HAVING finished_at > toDateTime64(0, 6, 'UTC') AND uniqExact(page) >= max(pages) AND sum(stored) >= sum(listed);
