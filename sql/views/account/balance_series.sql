-- What were the balances of our accounts, message by message?
--
-- One row per asset and message of the balance stream: the list after a login, and every change. balance_changes has only those
-- that differ from the one before, and those that polls show. While the stream was disconnected there is no row.
CREATE OR REPLACE VIEW {database}.balance_series
(
    `account` String COMMENT 'Configured name of the account',
    `asset` String COMMENT 'Asset ID: a coin, or an outcome asset',
    `received_at` DateTime64(6, 'UTC') COMMENT 'When the message was received',
    `source` String COMMENT 'list: all balances, after AUTH. update: a change',
    `balance` Decimal(38, 12) COMMENT 'Total including what orders lock: USDC or shares',
    `free` Nullable(Decimal(38, 12)) COMMENT 'Amount not locked by orders: USDC or shares',
    `log_position` Tuple(`offset` UInt64, `index` UInt32) COMMENT 'Position on the bus: orders the rows received at the same time'
)
AS
SELECT account, asset, received_at, source, balance, free, (`_offset`, `_index`) AS log_position
FROM {database}.balance_updates;
