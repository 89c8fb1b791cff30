-- What money and shares do our accounts hold now, and how much of it is free?
--
-- The rows of the latest complete poll of the balances of every account. The balance stream may have newer ones: see
-- balance_changes.
CREATE OR REPLACE VIEW {database}.balances
(
    `account` String COMMENT 'Configured name of the account',
    `polled_at` DateTime64(6, 'UTC') COMMENT 'When the poll was started',
    `asset` String COMMENT 'Asset ID: a coin, or an outcome asset',
    `balance` Decimal(38, 12) COMMENT 'Total including what orders lock: USDC or shares',
    `free` Nullable(Decimal(38, 12)) COMMENT 'Amount not locked by orders: USDC or shares',
    `name` Nullable(String) COMMENT 'Name, if the exchange sends it',
    `ticker` Nullable(String) COMMENT 'Ticker, if the exchange sends it',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Value in USDC, if the exchange sends it'
)
AS
WITH (SELECT groupArray((account, poll_id, started_at)) FROM {database}.latest_account_polls WHERE list = 'balances') AS latest
SELECT
    account,
    started_at AS polled_at,
    asset,
    balance,
    free,
    name,
    ticker,
    value
FROM
(
    SELECT *
    FROM {database}.balance_observations
    WHERE (account, poll_id) GLOBAL IN (SELECT one.1, one.2 FROM (SELECT arrayJoin(latest) AS one))
    ORDER BY received_at DESC, `_offset` DESC, `_index` DESC
    LIMIT 1 BY account, asset
) AS rows
INNER JOIN (SELECT one.1 AS account, one.2 AS poll_id, one.3 AS started_at FROM (SELECT arrayJoin(latest) AS one)) AS polls USING (account, poll_id);
