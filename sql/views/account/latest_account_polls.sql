-- Which poll has the current holdings and open orders of an account?
--
-- The latest row of recent_account_polls per account and list.
CREATE OR REPLACE VIEW {database}.latest_account_polls
(
    `list` String COMMENT 'positions, active-orders, balances or tpsl-orders',
    `account` String COMMENT 'Configured name of the account',
    `poll_id` String COMMENT 'UUID of the poll',
    `started_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started',
    `finished_at` DateTime64(6, 'UTC') COMMENT 'When its receipt was written'
)
AS
SELECT list, account, poll_id, started_at, finished_at
FROM {database}.recent_account_polls
ORDER BY finished_at DESC, poll_id
LIMIT 1 BY list, account;
