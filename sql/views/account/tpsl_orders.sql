-- Which take-profit and stop-loss orders of our accounts are waiting?
--
-- The rows of the latest complete poll of TP/SL orders of every account, which covers every asset that the account holds.
CREATE OR REPLACE VIEW {database}.tpsl_orders
(
    `account` String COMMENT 'Configured name of the account',
    `polled_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started',
    `tpsl_order_id` String COMMENT 'ID of the TP/SL order',
    `asset` String COMMENT 'ID of the asset that it would sell',
    `requested_status` String COMMENT 'Requested status; empty for all',
    `quantity` Nullable(Decimal(38, 12)) COMMENT 'Shares that it would sell',
    `take_profit_price` Nullable(Decimal(38, 12)) COMMENT 'Price at or above which it sells, USDC per share; NULL when it has none',
    `stop_loss_price` Nullable(Decimal(38, 12)) COMMENT 'Price at or below which it sells, USDC per share; NULL when it has none'
)
AS
WITH (SELECT groupArray((account, poll_id, started_at)) FROM {database}.latest_account_polls WHERE list = 'tpsl-orders') AS latest
SELECT
    account,
    started_at AS polled_at,
    tpsl_order_id,
    asset,
    requested_status,
    quantity,
    take_profit_price,
    stop_loss_price
FROM
(
    SELECT *
    FROM {database}.tpsl_order_observations
    WHERE (account, poll_id) GLOBAL IN (SELECT one.1, one.2 FROM (SELECT arrayJoin(latest) AS one))
    ORDER BY received_at DESC, `_offset` DESC, `_index` DESC
    LIMIT 1 BY account, asset, tpsl_order_id
) AS rows
INNER JOIN (SELECT one.1 AS account, one.2 AS poll_id, one.3 AS started_at FROM (SELECT arrayJoin(latest) AS one)) AS polls USING (account, poll_id);
