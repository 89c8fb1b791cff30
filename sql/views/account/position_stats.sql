-- How many positions does the exchange count for our accounts?
--
-- The last observation of every polled user.
CREATE OR REPLACE VIEW {database}.position_stats
(
    `account` String COMMENT 'Configured name of the account',
    `user_id` String COMMENT 'User ID',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was received',
    `tab` String COMMENT 'Selected tab: active or closed; empty when absent',
    `total_items` Nullable(Int64) COMMENT 'Number of positions',
    `opened_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the oldest open position was opened, by the exchange',
    `closed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the last position was closed, by the exchange'
)
AS
SELECT account, user_id, received_at AS seen_at, tab, total_items, opened_at, closed_at
FROM {database}.position_stats_observations
ORDER BY received_at DESC, `_offset` DESC, `_index` DESC
LIMIT 1 BY account, user_id;
