-- Does every field of every position of the exchange follow from our own records?
--
--   SELECT field, state, count() FROM position_field_reconciliation GROUP BY field, state
--
-- One row per account, asset and field (`code` is its name in the interface, part 2), for the poll and the assets of
-- position_reconciliation. Fields and what our records say of them:
--   shares tsc, cost c                   position_reconciliation
--   available_shares asc                 shares - remaining shares of the SELL orders in the latest poll of the active orders
--   entry_price sp                       cost / shares
--   current_price cp                     last price in the last tick before the poll began; of NO 1 - price
--   value v                              shares × current_price
--   pnl pv, pnl_percent pp               value - cost; 100 × (value - cost) / cost, 0 when the cost is 0
-- Ticks are those of poll_ticks: where a market has none before the poll, own prices and what follows from them are NULL (unknown).
-- The exchange rounds quotients: entry_price and pnl_percent are equal within a millionth, all others exactly. `state`:
--   equal
--   newer, unread                        as in position_reconciliation: the trades or the settlements differ
--   other price                          the exchange's price is that of a tick within 5 s after the poll began; or the field follows
--                                        from the exchange's own price
--   other poll                           of available_shares: the orders that lock shares were polled at another moment
--   not sent, unknown                    the exchange's value or ours is NULL
--   unexplained                          none of these
CREATE OR REPLACE VIEW {database}.position_field_reconciliation
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when unknown',
    `asset` String COMMENT 'Asset ID',
    `field` String COMMENT 'Name of the field: a column of positions',
    `code` String COMMENT 'Its name in the interface: tsc, asc, sp, c, cp, v, pv or pp',
    `state` String COMMENT 'equal, newer, unread, other price, other poll, not sent, unknown or unexplained',
    `ours` Nullable(Decimal(38, 12)) COMMENT 'Value by our own records: shares, USDC, USDC per share or percent; NULL when unknown',
    `exchange` Nullable(Decimal(38, 12)) COMMENT 'Value by the exchange: shares, USDC, USDC per share or percent; NULL when absent',
    `difference` Nullable(Decimal(38, 12)) COMMENT 'ours - exchange, in the same unit: shares, USDC, USDC per share or percent',
    `polled_at` DateTime64(6, 'UTC') COMMENT 'When the poll of the positions was started, by our clock'
)
AS
WITH
    toDecimal128('0.000001', 12) AS millionth,
    toDecimal128(0, 12) AS nothing,
    priced AS
    (
        SELECT
            account, event, market, asset, outcome, row_state, shares, cost, exchange_shares, exchange_cost, locked, polled_at,
            exchange_available_shares, exchange_entry_price, exchange_value, exchange_pnl, exchange_pnl_percent,
            toDecimal128OrNull(toString(exchange_price), 12) AS their_price,
            if(before.1 = 0 OR outcome = '', NULL, if(outcome = 'NO', 1 - toDecimal128(toString(before.2), 12), toDecimal128(toString(before.2), 12))) AS own_price,
            if(after.1 = 0 OR outcome = '', NULL, if(outcome = 'NO', 1 - toDecimal128(toString(after.2), 12), toDecimal128(toString(after.2), 12))) AS later_price
        FROM
        (
            SELECT
                * EXCEPT ticks,
                arrayLast(tick -> tick.1 <= polled_at, ticks) AS before,
                arrayLast(tick -> tick.1 <= polled_at + toIntervalSecond(5), ticks) AS after
            FROM
            (
                SELECT *, position_reconciliation.state AS row_state
                FROM {database}.position_reconciliation
                WHERE exchange_shares != 0
            ) AS positions
            LEFT JOIN
            (
                SELECT account, asset, sum(quantity) AS locked
                FROM {database}.active_orders
                WHERE side = 'SELL'
                GROUP BY account, asset
            ) AS sales USING (account, asset)
            LEFT JOIN (SELECT market, ticks FROM {database}.poll_ticks) AS prices USING (market)
        )
    ),
    valued AS
    (
        SELECT
            *,
            CAST(toDecimal256(shares, 12) * toDecimal256(own_price, 12), 'Nullable(Decimal(38, 12))') AS own_value,
            CAST(toDecimal256(shares, 12) * toDecimal256(their_price, 12), 'Nullable(Decimal(38, 12))') AS value_at_their_price
        FROM priced
    )
SELECT
    account,
    event,
    market,
    asset,
    one.1 AS field,
    one.2 AS code,
    multiIf(
        one.4 IS NULL, 'not sent',
        one.3 IS NULL, if(row_state = 'equal', 'unknown', row_state),
        abs(one.3 - one.4) <= one.6, 'equal',
        row_state != 'equal', row_state,
        one.1 = 'available_shares', 'other poll',
        ifNull(abs(one.5 - one.4) <= one.6, false), 'other price',
        'unexplained'
    ) AS state,
    one.3 AS ours,
    one.4 AS exchange,
    one.3 - one.4 AS difference,
    polled_at
FROM
(
    SELECT
        account,
        event,
        market,
        asset,
        row_state,
        polled_at,
        -- Field, code, ours, the exchange's, what would be ours at another price, tolerance.
        arrayJoin([
            ('shares', 'tsc', toNullable(shares), toNullable(exchange_shares), CAST(NULL, 'Nullable(Decimal(38, 12))'), nothing),
            ('available_shares', 'asc', shares - locked, exchange_available_shares, NULL, nothing),
            ('entry_price', 'sp', if(shares = 0, NULL, toDecimal128OrNull(toString(toFloat64(cost) / toFloat64(shares)), 12)), toDecimal128OrNull(toString(exchange_entry_price), 12), NULL, millionth),
            ('cost', 'c', cost, exchange_cost, NULL, nothing),
            ('current_price', 'cp', own_price, their_price, later_price, nothing),
            ('value', 'v', own_value, exchange_value, value_at_their_price, nothing),
            ('pnl', 'pv', own_value - cost, exchange_pnl, value_at_their_price - cost, nothing),
            (
                'pnl_percent', 'pp', if(cost = 0, nothing, toDecimal128OrNull(toString(100 * (toFloat64(own_value) - toFloat64(cost)) / toFloat64(cost)), 12)),
                toDecimal128OrNull(toString(exchange_pnl_percent), 12), if(cost = 0, nothing, toDecimal128OrNull(toString(100 * (toFloat64(value_at_their_price) - toFloat64(cost)) / toFloat64(cost)), 12)), millionth
            )
        ]) AS one
    FROM valued
);
