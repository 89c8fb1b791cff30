-- Which states did an order pass through?
--
-- Every state (status and filled quantity) in the order history, with the time it was first seen, and every message of the
-- order updates stream about orders and TP/SL orders. The history is polled: a state that lasted less than the time
-- between two polls may be missing.
CREATE OR REPLACE VIEW {database}.order_changes
(
    `account` String COMMENT 'Configured name of the account',
    `order_id` String COMMENT 'ID of the order, or of the TP/SL order',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was first seen in this state',
    `source` String COMMENT 'poll: the order history. order: ORDER_UPDATE of the stream. tpsl: TPSL_UPDATE of the stream',
    `status` String COMMENT 'Status; SUCCESS or FAILED for ORDER_UPDATE; empty when absent',
    `filled_quantity` Nullable(Decimal(38, 12)) COMMENT 'poll: shares that were filled',
    `last_seen_at` DateTime64(6, 'UTC') COMMENT 'When it was last seen in this state'
)
AS
SELECT account, order_id, state_seen_at AS seen_at, 'poll' AS source, status, nullIf(filled_quantity, toDecimal128(-1, 12)) AS filled_quantity, state_last_seen_at AS last_seen_at
FROM
(
    SELECT account, order_id, status, filled_quantity, CAST(min(first_seen_at) AS DateTime64(6, 'UTC')) AS state_seen_at, CAST(max(order_states.last_seen_at) AS DateTime64(6, 'UTC')) AS state_last_seen_at
    FROM {database}.order_states
    GROUP BY account, order_id, status, filled_quantity
)
UNION ALL
SELECT account, order_id, received_at AS seen_at, toString(type) AS source, status, NULL AS filled_quantity, received_at AS last_seen_at
FROM {database}.order_updates;
