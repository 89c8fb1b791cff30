-- Up to which time are the histories of every account complete?
--
-- complete_to is the start of the latest poll that read a history from its newest record back to one that an earlier poll
-- had read, and whose rows are all stored: every record that was in the history at that time is in orders, trades,
-- transactions or activity. Records since then may be partly there. A history that was not read to its end yet has no row;
-- while a worker is more than ten polls behind, it has none either. Searched among the last ten complete receipts, of those whose
-- poll IDs have the same hash modulo 64 only the last one.
--
-- A poll is stored when all its pages are in account_pages, without rejected entries, and the table of the records has rows
-- at or after the offset of its last page that was not empty: the rows of a batch appear in a table at once, and batches in
-- order. Page 1000000 is a request for a page beyond the end of every list, which receipts do not count.
CREATE OR REPLACE VIEW {database}.history_completeness
(
    `operation` String COMMENT 'orders, trades, transactions or activity',
    `account` String COMMENT 'Configured name of the account; empty for activity',
    `complete_to` DateTime64(6, 'UTC') COMMENT 'Every record up to this time is stored, by our clock'
)
AS
WITH
    -- Rows as text: ClickHouse plans a query with an array of many tuples many times slower.
    (
        SELECT
            (
                toJSONString(groupArray([operation, account, poll_id, toString(pages), toString(toUnixTimestamp64Micro(started_at))])),
                -- Months of pages before it are not read. A day earlier, because clocks may be set back.
                min(started_at) - toIntervalDay(1)
            )
        FROM
        (
            SELECT operation, account, last.2 AS poll_id, last.4 AS pages, last.3 AS started_at
            FROM
            (
                SELECT operation, if(operation = 'activity', '', subject) AS account, slot, max(last_poll) AS last
                FROM {database}.poll_slots
                WHERE operation IN ('orders', 'trades', 'transactions', 'activity')
                GROUP BY operation, subject, slot
            )
            ORDER BY started_at DESC, poll_id
            LIMIT 10 BY operation, account
        )
    ) AS receipts,
    candidates AS
    (
        SELECT
            one[1] AS operation, one[2] AS account, one[3] AS poll_id, toUInt32(one[4]) AS pages,
            fromUnixTimestamp64Micro(toInt64(one[5]), 'UTC') AS started_at
        FROM (SELECT arrayJoin(JSONExtract(materialize(ifNull(receipts.1, '[]')), 'Array(Array(String))')) AS one)
    ),
    ifNull(receipts.2, toDateTime64(0, 6, 'UTC')) AS pages_from,
    (
        SELECT
            (
                toJSONString(groupArray([operation, account, poll_id, log, toString(partition), toString(pages_here), toString(listed), toString(rejected), toString(last_offset)])),
                -- Rows before it decide nothing, and an index skips them.
                if(countIf(listed > 0) = 0, 18446744073709551615, minIf(last_offset, listed > 0))
            )
        FROM
        (
            SELECT
                operation, toString(account_pages.account) AS account, poll_id,
                any(`_log`) AS log,
                any(`_partition`) AS partition,
                countIf(page < 1000000) AS pages_here,
                sum(items) AS listed,
                sum(rejected_items) AS rejected,
                maxIf(`_offset`, items > 0) AS last_offset
            FROM {database}.account_pages
            WHERE received_at >= pages_from AND (operation, account, poll_id) GLOBAL IN (SELECT operation, account, poll_id FROM candidates)
            GROUP BY operation, account, poll_id
        )
    ) AS stored_pages,
    ifNull(stored_pages.2, 18446744073709551615) AS first_offset
SELECT operation, account, max(started_at) AS complete_to
FROM candidates
INNER JOIN
(
    SELECT one[1] AS operation, one[2] AS account, one[3] AS poll_id, one[4] AS log, toUInt32(one[5]) AS partition,
        toUInt64(one[6]) AS pages_here, toUInt64(one[7]) AS listed, toUInt64(one[8]) AS rejected, toUInt64(one[9]) AS last_offset
    FROM (SELECT arrayJoin(JSONExtract(materialize(ifNull(stored_pages.1, '[]')), 'Array(Array(String))')) AS one)
) AS here USING (operation, account, poll_id)
LEFT JOIN
(
    -- One condition: ClickHouse analyses first_offset again for every subquery that uses it.
    SELECT operation, account, log, partition, max(position) AS stored_to
    FROM
    (
        SELECT 'orders' AS operation, account, `_log` AS log, `_partition` AS partition, `_offset` AS position FROM {database}.order_records
        UNION ALL
        SELECT 'trades' AS operation, account, `_log` AS log, `_partition` AS partition, `_offset` AS position FROM {database}.trade_records
        UNION ALL
        SELECT 'transactions' AS operation, account, `_log` AS log, `_partition` AS partition, `_offset` AS position FROM {database}.transaction_records
        UNION ALL
        SELECT 'activity' AS operation, toString(account) AS account, `_log` AS log, `_partition` AS partition, `_offset` AS position FROM {database}.activity_records
    )
    WHERE position >= first_offset
    GROUP BY operation, account, log, partition
) AS stored USING (operation, account, log, partition)
WHERE pages_here >= pages AND rejected = 0 AND (listed = 0 OR stored_to >= last_offset)
GROUP BY operation, account;
