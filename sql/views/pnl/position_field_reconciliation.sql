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
-- Ticks are read from 7 days before the first of the recent polls to 5 s after the last one. An older tick counts if it is the last one of
-- its market until now; otherwise own prices and what follows from them are NULL (unknown).
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
    -- A constant, so that ClickHouse reads only the ticks of this time.
    (SELECT (min(started_at), max(started_at)) FROM {database}.recent_account_polls WHERE list = 'positions') AS polled,
    -- Compared faster than the list of blocks.
    (SELECT if(count() = 0, 18446744073709551615, min(block) * 65536) FROM {database}.price_blocks FINAL WHERE rollup_id = 0) AS first_offset,
    -- Of the hours before the first poll only the last tick of each, from price_hours, and the ticks that it does not hold.
    ticks AS
    (
        SELECT tick_market, fromUnixTimestamp64Micro(toInt64(bitShiftRight(tick, 64)), 'UTC') AS tick_at, argMax(known.tick_last, tick) AS tick_last
        FROM
        (
            SELECT toString(price_hours.market) AS tick_market, last_tick AS tick, close AS tick_last
            FROM {database}.price_hours
            WHERE price_hours.market GLOBAL IN (SELECT market FROM {database}.position_observations WHERE received_at >= polled.1)
                AND price_hours.begins_at >= toStartOfHour(polled.1 - toIntervalDay(7)) AND price_hours.begins_at < toStartOfHour(polled.1)
                AND last_tick >= bitShiftLeft(toUInt128(toUnixTimestamp64Micro(polled.1 - toIntervalDay(7))), 64)
                AND rollup_id GLOBAL IN (SELECT rollup_id FROM {database}.price_blocks FINAL)
            UNION ALL
            SELECT
                toString(price_ticks.market) AS tick_market,
                bitShiftLeft(toUInt128(toUnixTimestamp64Micro(price_ticks.received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS tick,
                toFloat64(last) AS tick_last
            FROM {database}.price_ticks
            WHERE price_ticks.market GLOBAL IN (SELECT market FROM {database}.position_observations WHERE received_at >= polled.1)
                AND price_ticks.received_at >= polled.1 - toIntervalDay(7) AND price_ticks.received_at <= polled.2 + toIntervalSecond(5)
                AND price_ticks.received_at >= toStartOfHour(polled.1)
            UNION ALL
            SELECT
                toString(price_ticks.market) AS tick_market,
                bitShiftLeft(toUInt128(toUnixTimestamp64Micro(price_ticks.received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS tick,
                toFloat64(last) AS tick_last
            FROM {database}.price_ticks
            WHERE price_ticks.market GLOBAL IN (SELECT market FROM {database}.position_observations WHERE received_at >= polled.1)
                AND price_ticks.received_at >= polled.1 - toIntervalDay(7) AND price_ticks.received_at <= polled.2 + toIntervalSecond(5)
                AND price_ticks.received_at < toStartOfHour(polled.1) AND (repeated OR is_resolution)
            UNION ALL
            SELECT
                toString(price_ticks.market) AS tick_market,
                bitShiftLeft(toUInt128(toUnixTimestamp64Micro(price_ticks.received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS tick,
                toFloat64(last) AS tick_last
            FROM {database}.price_ticks
            WHERE price_ticks.market GLOBAL IN (SELECT market FROM {database}.position_observations WHERE received_at >= polled.1)
                AND price_ticks.received_at >= polled.1 - toIntervalDay(7) AND price_ticks.received_at <= polled.2 + toIntervalSecond(5)
                AND price_ticks.received_at < toStartOfHour(polled.1)
                AND `_offset` >= first_offset AND (`_log`, `_partition`, intDiv(`_offset`, 65536)) GLOBAL IN (SELECT `_log`, `_partition`, block FROM {database}.price_blocks FINAL WHERE rollup_id = 0)
            UNION ALL
            SELECT market AS tick_market, bitShiftLeft(toUInt128(toUnixTimestamp64Micro(received_at)), 64) AS tick, last AS tick_last
            FROM {database}.latest_ticks
        ) AS known
        GROUP BY tick_market, tick_at
    ),
    priced AS
    (
        SELECT
            account, event, market, asset, outcome, row_state, shares, cost, exchange_shares, exchange_cost, locked, polled_at,
            exchange_available_shares, exchange_entry_price, exchange_value, exchange_pnl, exchange_pnl_percent,
            toDecimal128OrNull(toString(exchange_price), 12) AS their_price,
            if(before_at = 0 OR outcome = '', NULL, if(outcome = 'NO', 1 - toDecimal128(toString(before_last), 12), toDecimal128(toString(before_last), 12))) AS own_price,
            if(after_at = 0 OR outcome = '', NULL, if(outcome = 'NO', 1 - toDecimal128(toString(after_last), 12), toDecimal128(toString(after_last), 12))) AS later_price
        FROM
        (
            SELECT *, polled_at + toIntervalSecond(5) AS soon_after
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
        ) AS positions
        ASOF LEFT JOIN
        (
            SELECT tick_market AS market_before, tick_at AS before_at, tick_last AS before_last
            FROM ticks
        ) AS before ON positions.market = market_before AND positions.polled_at >= before_at
        ASOF LEFT JOIN
        (
            SELECT tick_market AS market_after, tick_at AS after_at, tick_last AS after_last
            FROM ticks
        ) AS after ON positions.market = market_after AND positions.soon_after >= after_at
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
