-- Do the positions that follow from the recorded trades equal those of the exchange?
--
-- Compares the trades and settlements of an account (pnl_by_asset) with its latest complete poll of open positions, per
-- asset, including assets that only one of the two has. `state` is `equal`; `newer`, when the last trade or settlement is
-- not older than the poll, so that the poll may not include it; or `unexplained`. Only accounts whose positions were
-- polled are included.
CREATE OR REPLACE VIEW {database}.position_reconciliation
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `event` LowCardinality(String) COMMENT 'Event ID; empty when it is not known',
    `market` LowCardinality(String) COMMENT 'Market ID; empty when it is not known',
    `asset` LowCardinality(String) COMMENT 'Asset ID',
    `state` String COMMENT 'equal, newer or unexplained',
    `shares` Decimal(38, 12) COMMENT 'Shares by our own books',
    `exchange_shares` Decimal(38, 12) COMMENT 'Shares by the exchange',
    `shares_difference` Decimal(38, 12) COMMENT 'shares - exchange_shares',
    `cost` Decimal(38, 12) COMMENT 'Cost by our own books, USDC',
    `exchange_cost` Nullable(Decimal(38, 12)) COMMENT 'Cost by the exchange, USDC; NULL when absent',
    `cost_difference` Nullable(Decimal(38, 12)) COMMENT 'cost - exchange_cost',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last trade, by the exchange',
    `settled_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the settlement',
    `polled_at` DateTime64(6, 'UTC') COMMENT 'When the poll of the positions was started, by our clock'
)
AS
WITH
    polls AS
    (
        SELECT account, started_at AS polled_at
        FROM {database}.latest_account_polls
        WHERE list = 'positions'
    ),
    theirs AS
    (
        SELECT account, asset, any(event) AS their_event, any(market) AS their_market, sum(shares) AS exchange_shares, sum(cost) AS exchange_cost_known, countIf(cost IS NULL) AS without_cost
        FROM {database}.positions
        GROUP BY account, asset
    )
SELECT
    account,
    if(event = '', their_event, event) AS event,
    if(market = '', their_market, market) AS market,
    asset,
    multiIf(
        shares_difference = 0 AND ifNull(cost_difference, 0) = 0, 'equal',
        ifNull(last_trade_at >= polled_at, false) OR ifNull(settled_at >= polled_at, false), 'newer',
        'unexplained'
    ) AS state,
    shares,
    exchange_shares,
    shares - exchange_shares AS shares_difference,
    cost,
    if(without_cost > 0, NULL, ifNull(exchange_cost_known, toDecimal128(0, 12))) AS exchange_cost,
    cost - exchange_cost AS cost_difference,
    last_trade_at,
    settled_at,
    polled_at
FROM
(
    SELECT account, asset, event, market, shares, cost, last_trade_at, settled_at
    FROM {database}.pnl_by_asset
) AS ours
FULL JOIN theirs USING (account, asset)
INNER JOIN polls USING (account)
WHERE shares != 0 OR exchange_shares != 0 OR ifNull(settled_at >= polled_at, false);
