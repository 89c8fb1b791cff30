-- Which polls did not receive everything, and why?
--
-- One row per poll whose outcome is incomplete or failed. The next complete poll of the operation and subject has the current state;
-- changes in between that were reverted are unknown.
CREATE OR REPLACE VIEW {database}.incomplete_polls
(
    `operation` String COMMENT 'Name of the operation',
    `subject` String COMMENT 'Subject of the request, such as an account or a market; `all` for lists without a subject',
    `started_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started',
    `finished_at` DateTime64(6, 'UTC') COMMENT 'When its receipt was written',
    `outcome` String COMMENT 'incomplete or failed',
    `expected_items` Nullable(UInt64) COMMENT 'Number of items that the exchange reported; NULL when it did not',
    `received_items` UInt64 COMMENT 'Items received',
    `pages` UInt32 COMMENT 'Pages read',
    `truncated` Bool COMMENT 'Whether the exchange limited the number of items',
    `cause` String COMMENT 'Why it is not complete'
)
AS
SELECT operation, subject, started_at, finished_at, outcome, expected_items, received_items, pages, truncated, cause
FROM {database}.polls
WHERE outcome != 'complete';
