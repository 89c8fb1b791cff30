-- Which of our orders are in the book now?
--
-- The rows of the latest complete poll of active orders of every account, joined with the order history.
CREATE OR REPLACE VIEW {database}.active_orders
(
    `account` String COMMENT 'Configured name of the account',
    `polled_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started',
    `order_id` String COMMENT 'Order ID',
    `event` String COMMENT 'Event ID; empty when the order history does not have the order yet',
    `market` String COMMENT 'Market ID; empty when the order history does not have the order yet',
    `asset` String COMMENT 'Asset ID; empty when the order history does not have the order yet',
    `status` String COMMENT 'Status, such as ACTIVE; empty when absent',
    `side` String COMMENT 'BUY or SELL; empty when absent',
    `price` Nullable(Decimal(38, 12)) COMMENT 'Limit, USDC per share',
    `quantity` Decimal(38, 12) COMMENT 'Remaining shares'
)
AS
WITH (SELECT groupArray((account, poll_id, started_at)) FROM {database}.latest_account_polls WHERE list = 'active-orders') AS latest
SELECT account, started_at AS polled_at, order_id, event, market, asset, status, side, price, quantity
FROM
(
    SELECT account, poll_id, order_id, status, side, price, quantity
    FROM {database}.active_order_observations
    WHERE (account, poll_id) GLOBAL IN (SELECT one.1, one.2 FROM (SELECT arrayJoin(latest) AS one))
    ORDER BY received_at DESC, `_offset` DESC, `_index` DESC
    LIMIT 1 BY account, order_id
) AS open_orders
INNER JOIN (SELECT one.1 AS account, one.2 AS poll_id, one.3 AS started_at FROM (SELECT arrayJoin(latest) AS one)) AS polls USING (account, poll_id)
LEFT JOIN (SELECT account, order_id, event, market, asset FROM {database}.orders) AS history USING (account, order_id);
