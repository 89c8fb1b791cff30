-- What positions do our accounts hold now?
--
-- The rows of the latest complete poll of the open positions of every account. If a page was read twice in one poll, the
-- second reading counts.
CREATE OR REPLACE VIEW {database}.positions
(
    `account` String COMMENT 'Configured name of the account',
    `polled_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started',
    `asset` String COMMENT 'ID of the held asset',
    `order_id` String COMMENT 'ID of the order that opened it; empty when absent',
    `event` String COMMENT 'Event ID; empty when absent',
    `market` String COMMENT 'Market ID (outcome ID); empty when absent',
    `event_title` Nullable(String) COMMENT 'Title of the event',
    `outcome_name` Nullable(String) COMMENT 'Name of the market',
    `token_name` Nullable(String) COMMENT 'Name of the asset, such as YES',
    `is_primary` Nullable(Bool) COMMENT 'Whether it is the YES asset',
    `shares` Decimal(38, 12) COMMENT 'Held shares',
    `available_shares` Nullable(Decimal(38, 12)) COMMENT 'Shares not locked by orders',
    `entry_price` Nullable(Float64) COMMENT 'Average cost of a share, USDC, as divided by the exchange',
    `cost` Nullable(Decimal(38, 12)) COMMENT 'Cost of the shares, USDC',
    `current_price` Nullable(Float64) COMMENT 'Current price of a share, USDC, by the exchange',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Current value of the shares, USDC, by the exchange',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'Unrealised profit or loss, USDC, by the exchange',
    `pnl_percent` Nullable(Float64) COMMENT 'Unrealised profit or loss in percent of the cost, by the exchange',
    `tpsl_orders` Array(String) COMMENT 'IDs of the take-profit/stop-loss orders attached to it',
    `opened_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was opened, by the exchange'
)
AS
WITH (SELECT groupArray((account, poll_id, started_at)) FROM {database}.latest_account_polls WHERE list = 'positions') AS latest
SELECT
    account,
    started_at AS polled_at,
    asset,
    order_id,
    event,
    market,
    event_title,
    outcome_name,
    token_name,
    is_primary,
    shares,
    available_shares,
    entry_price,
    cost,
    current_price,
    value,
    pnl,
    pnl_percent,
    tpsl_orders,
    opened_at
FROM
(
    SELECT *
    FROM {database}.position_observations
    WHERE (account, poll_id) GLOBAL IN (SELECT one.1, one.2 FROM (SELECT arrayJoin(latest) AS one))
    ORDER BY received_at DESC, `_offset` DESC, `_index` DESC
    LIMIT 1 BY account, asset, order_id
) AS rows
INNER JOIN (SELECT one.1 AS account, one.2 AS poll_id, one.3 AS started_at FROM (SELECT arrayJoin(latest) AS one)) AS polls USING (account, poll_id);
