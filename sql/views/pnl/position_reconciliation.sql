-- Do the positions that follow from the recorded trades equal those of the exchange?
--
-- Compares the trades and settlements of an account (pnl_by_asset) with a complete poll of its open positions, per asset,
-- including assets that only one of the two has. It is the latest poll that ended before complete_to, so that everything
-- that it shows has been read; without such a poll among the last ten, the latest one. `state` is `equal`; `newer`, when the
-- last trade or settlement is not older than the poll, so that the poll may not include it; `unread`, when the poll ended
-- after complete_to; or `unexplained`. Only accounts whose positions were polled are included. position_field_reconciliation compares
-- the other fields of a position. A position that the exchange lists in several rows (order_id) has no single price: NULL.
CREATE OR REPLACE VIEW {database}.position_reconciliation
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when unknown',
    `asset` String COMMENT 'Asset ID',
    `state` String COMMENT 'equal, newer, unread or unexplained',
    `shares` Decimal(38, 12) COMMENT 'Shares by our own records',
    `exchange_shares` Decimal(38, 12) COMMENT 'Shares by the exchange',
    `shares_difference` Decimal(38, 12) COMMENT 'shares - exchange_shares',
    `cost` Decimal(38, 12) COMMENT 'Cost by our own records, USDC',
    `exchange_cost` Nullable(Decimal(38, 12)) COMMENT 'Cost by the exchange, USDC; NULL when absent',
    `cost_difference` Nullable(Decimal(38, 12)) COMMENT 'cost - exchange_cost, USDC',
    `exchange_available_shares` Nullable(Decimal(38, 12)) COMMENT 'Shares not locked by orders, by the exchange; NULL when absent',
    `exchange_entry_price` Nullable(Float64) COMMENT 'Average cost of a share, USDC, by the exchange; NULL when absent',
    `exchange_price` Nullable(Float64) COMMENT 'Current price of a share, USDC, by the exchange; NULL when absent',
    `exchange_value` Nullable(Decimal(38, 12)) COMMENT 'Current value of the shares, USDC, by the exchange; NULL when absent',
    `exchange_pnl` Nullable(Decimal(38, 12)) COMMENT 'Unrealised profit or loss, USDC, by the exchange; NULL when absent',
    `exchange_pnl_percent` Nullable(Float64) COMMENT 'Unrealised profit or loss in percent of the cost, by the exchange; NULL when absent',
    `outcome` String COMMENT 'YES or NO; empty when unknown',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last trade, by the exchange',
    `settled_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the settlement',
    `polled_at` DateTime64(6, 'UTC') COMMENT 'When the poll of the positions was started, by our clock',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock (account_completeness)'
)
AS
WITH
    (SELECT groupArray((account, complete_to)) FROM {database}.account_completeness) AS completeness,
    (
        SELECT groupArray((account, poll_id, started_at, is_read, complete_to))
        FROM
        (
            SELECT account, poll_id, started_at, ifNull(finished_at <= complete_to, false) AS is_read, complete_to
            FROM (SELECT account, poll_id, started_at, finished_at FROM {database}.recent_account_polls WHERE list = 'positions') AS recent
            LEFT JOIN (SELECT one.1 AS account, one.2 AS complete_to FROM (SELECT arrayJoin(completeness) AS one)) AS known_to USING (account)
            ORDER BY is_read DESC, finished_at DESC, poll_id
            LIMIT 1 BY account
        )
    ) AS chosen,
    polls AS
    (
        SELECT one.1 AS account, one.3 AS polled_at, one.4 AS is_read, one.5 AS complete_to
        FROM (SELECT arrayJoin(chosen) AS one)
    ),
    theirs AS
    (
        SELECT account, asset, any(event) AS their_event, any(market) AS their_market, sum(shares) AS exchange_shares, sum(cost) AS exchange_cost_known, countIf(cost IS NULL) AS without_cost,
            if(countIf(available_shares IS NULL) > 0, NULL, sum(available_shares)) AS their_available,
            if(count() > 1, NULL, any(entry_price)) AS their_entry_price,
            if(count() > 1, NULL, any(current_price)) AS their_price,
            if(countIf(value IS NULL) > 0, NULL, sum(value)) AS their_value,
            if(countIf(pnl IS NULL) > 0, NULL, sum(pnl)) AS their_pnl,
            if(count() > 1, NULL, any(pnl_percent)) AS their_percent
        FROM
        (
            SELECT account, asset, event, market, shares, cost, available_shares, entry_price, current_price, value, pnl, pnl_percent
            FROM {database}.position_observations
            WHERE (account, poll_id) GLOBAL IN (SELECT one.1, one.2 FROM (SELECT arrayJoin(chosen) AS one))
            ORDER BY received_at DESC, `_offset` DESC, `_index` DESC
            LIMIT 1 BY account, asset, order_id
        )
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
        NOT is_read, 'unread',
        'unexplained'
    ) AS state,
    shares,
    exchange_shares,
    shares - exchange_shares AS shares_difference,
    cost,
    if(without_cost > 0, NULL, ifNull(exchange_cost_known, toDecimal128(0, 12))) AS exchange_cost,
    cost - exchange_cost AS cost_difference,
    their_available AS exchange_available_shares,
    their_entry_price AS exchange_entry_price,
    their_price AS exchange_price,
    their_value AS exchange_value,
    their_pnl AS exchange_pnl,
    their_percent AS exchange_pnl_percent,
    outcome,
    last_trade_at,
    settled_at,
    polled_at,
    polls.complete_to AS complete_to
FROM
(
    -- Not a FULL JOIN, through which ClickHouse does not push a filter by account.
    SELECT
        account,
        asset,
        max(sides.event) AS event,
        max(sides.market) AS market,
        max(sides.outcome) AS outcome,
        sum(sides.shares) AS shares,
        sum(sides.cost) AS cost,
        max(sides.last_trade_at) AS last_trade_at,
        max(sides.settled_at) AS settled_at,
        max(sides.their_event) AS their_event,
        max(sides.their_market) AS their_market,
        sum(sides.exchange_shares) AS exchange_shares,
        sum(sides.exchange_cost_known) AS exchange_cost_known,
        sum(sides.without_cost) AS without_cost,
        max(sides.their_available) AS their_available,
        max(sides.their_entry_price) AS their_entry_price,
        max(sides.their_price) AS their_price,
        max(sides.their_value) AS their_value,
        max(sides.their_pnl) AS their_pnl,
        max(sides.their_percent) AS their_percent
    FROM
    (
        -- shares and cost are those of pnl_by_asset.
        SELECT
            account, asset, event, market, outcome, if(settlement = 'open', held_shares, toDecimal128(0, 12)) AS shares,
            if(settlement = 'open', days[-1].9, toDecimal128(0, 12)) AS cost, days[-1].3 AS last_trade_at, settled_at,
            '' AS their_event, '' AS their_market, toDecimal128(0, 12) AS exchange_shares, NULL AS exchange_cost_known, 0 AS without_cost,
            NULL AS their_available, NULL AS their_entry_price, NULL AS their_price, NULL AS their_value, NULL AS their_pnl, NULL AS their_percent
        FROM {database}.settled_positions
        UNION ALL
        SELECT
            account, asset, '' AS event, '' AS market, '' AS outcome, toDecimal128(0, 12) AS shares, toDecimal128(0, 12) AS cost, NULL AS last_trade_at, NULL AS settled_at,
            their_event, their_market, exchange_shares, exchange_cost_known, without_cost,
            their_available, their_entry_price, their_price, their_value, their_pnl, their_percent
        FROM theirs
    ) AS sides
    GROUP BY account, asset
) AS compared
INNER JOIN polls USING (account)
WHERE shares != 0 OR exchange_shares != 0 OR ifNull(settled_at >= polled_at, false);
