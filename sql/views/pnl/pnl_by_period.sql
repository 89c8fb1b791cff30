-- What was the profit or loss of every account and asset in each period?
--
--   SELECT * FROM pnl_by_period(period_seconds = 86400, price = 'chance') WHERE account = '...' ORDER BY asset, begins_at
--
-- One row per account, asset and period, from the first trade (or the payout, where no trade is known) to the settlement, or to now while shares are held, else to the
-- last trade. Periods are aligned to the Unix epoch, in exchange time. `price` says how the held shares are
-- valued: by the last tick of the market before the end of the period; NULL where there is none, or no such price:
--   chance  price of the last trade in the order book. It is the chance of pnl_by_asset too (market_chances), which takes the
--           chance stream or history where the book never had a tick; here the price is NULL then
--   mid     (bid + ask) / 2; only where both sides of the book are there and not crossed
--   bid     best bid: what the shares could be sold for; of NO it is 1 - ask
-- Ticks have our time of receipt, so trades and prices of one period are compared across two clocks: a price may be some
-- milliseconds older than a trade of the same moment.
--
-- The formulas are those of pnl_by_asset. Amounts of the period are the difference of two sums, at its end and at that of the
-- period before; costs and values are those at its end. A market counts as settled in the period of settled_at, or in the
-- current period where this time is unknown. pnl is the same by each method: cash_flow + change of value - fees.
--
-- Completeness, as fractions of the elapsed part of the period: observed is the part before complete_to; missing is the rest, in which
-- trades and transactions may be missing; backfilled is 0.
CREATE OR REPLACE VIEW {database}.pnl_by_period
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when unknown',
    `asset` String COMMENT 'Asset ID',
    `outcome` String COMMENT 'YES or NO; empty when unknown',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period',
    `trades` UInt64 COMMENT 'Trades in the period',
    `shares` Decimal(38, 12) COMMENT 'Held shares at the end',
    `price` Nullable(Decimal(38, 12)) COMMENT 'Price of a share at the end, USDC; NULL when unknown. At chance it is from the last trade in the order book: unlike pnl_by_asset, without the chance stream and history',
    `price_age_seconds` Nullable(Float64) COMMENT 'Age of that price at the end of the period (of the current period: now), seconds',
    `value` Nullable(Decimal(38, 12)) COMMENT 'shares × price, USDC; NULL when shares are held and the price is unknown',
    `cost` Decimal(38, 12) COMMENT 'Average cost of the held shares at the end, USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost of the held shares at the end, first in, first out, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees of the period, USDC',
    `payout` Decimal(38, 12) COMMENT 'Payout of the market in the period, USDC',
    `realised_pnl` Decimal(38, 12) COMMENT 'Realised in the period by average cost, without fees, USDC',
    `fifo_realised_pnl` Decimal(38, 12) COMMENT 'Realised in the period, first in, first out, without fees, USDC',
    `cash_flow` Decimal(38, 12) COMMENT 'Sales - purchases + payout of the period, without fees, USDC',
    `unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - cost at the end, USDC',
    `fifo_unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - fifo_cost at the end, USDC',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'Profit or loss of the period after fees, USDC: since the last period with a known value; NULL when the value is unknown',
    `observed` Float64 COMMENT 'Fraction of the elapsed part of the period that the trades and transactions of the account are complete for, 0 to 1',
    `backfilled` Float64 COMMENT 'Fraction of the period that was fetched from another source, 0 to 1: always 0',
    `missing` Float64 COMMENT 'Fraction of the elapsed part of the period in which trades and transactions may be missing, 1 - observed, 0 to 1',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock; NULL before the first complete walks'
)
AS
WITH
    toDecimal128(0, 12) AS nothing,
    (SELECT groupArray((account, complete_to)) FROM {database}.account_completeness) AS completeness,
    -- An asset of an account is one row until what resolves its market is known, so that position_costs is planned once. A payout without
    -- trades is a step of its own.
    traded AS
    (
        -- Not a FULL JOIN, through which ClickHouse does not push a filter by account.
        SELECT
            account,
            asset,
            max(parts.event) AS event,
            max(parts.market) AS market,
            argMax(parts.shares, parts.period) AS held_shares,
            arraySort(groupArrayIf((parts.period, parts.trades, parts.shares, parts.average_cost, parts.fifo_cost, parts.fees, parts.traded), parts.is_payout = 0)) AS cost_steps,
            max(parts.is_payout) AS is_paid,
            sum(parts.amount) AS amount,
            max(parts.paid_at) AS paid_at,
            if(
                empty(cost_steps),
                [(toUInt32(intDiv(toUnixTimestamp(ifNull(paid_at, now())), {period_seconds:UInt32}) * {period_seconds:UInt32}), toUInt64(0), nothing, nothing, nothing, nothing, nothing)],
                cost_steps
            ) AS steps
        FROM
        (
            SELECT
                account, asset, event, market, toUInt32(toUnixTimestamp(begins_at)) AS period, trades, bought_shares - sold_shares AS shares,
                average_cost, fifo_cost, fees, sold_value - bought_value AS traded, 0 AS is_payout, nothing AS amount, NULL AS paid_at
            FROM {database}.position_costs(period_seconds = {period_seconds:UInt32})
            UNION ALL
            SELECT
                account, asset, '' AS event, '' AS market, toUInt32(0) AS period, toUInt64(0) AS trades, nothing AS shares,
                nothing AS average_cost, nothing AS fifo_cost, nothing AS fees, nothing AS traded, 1 AS is_payout, amount, paid_at
            FROM {database}.payouts
        ) AS parts
        GROUP BY account, asset
    ),
    lifetimes AS
    (
        SELECT
            *,
            greatest(steps[-1].1, multiIf(settlement != 'open', settled_in, held_shares != 0, current_period, 0)) + 1 AS ends_before
        FROM
        (
            SELECT
                account, asset, event, market, outcome, settlement, payout, held_shares, steps,
                toUInt32(intDiv(toUnixTimestamp(now()), {period_seconds:UInt32}) * {period_seconds:UInt32}) AS current_period,
                ifNull(toUInt32(intDiv(toUnixTimestamp(settled_at), {period_seconds:UInt32}) * {period_seconds:UInt32}), current_period) AS settled_in
            FROM
            (
{settled_assets}
            )
        )
    ),
    -- The costs at the end of a period with trades are those of all periods until the next one with trades.
    grid AS
    (
        SELECT account, asset, event, market, outcome, settlement, payout, settled_in, step, arrayJoin(range(step.1, next_step, {period_seconds:UInt32})) AS period
        FROM lifetimes
        ARRAY JOIN steps AS step, arrayPushBack(arrayPopFront(steps.1), ends_before) AS next_step
    ),
    books AS
    (
        SELECT
            toString(price_ticks.market) AS market,
            toUInt32(intDiv(toUnixTimestamp(received_at), {period_seconds:UInt32}) * {period_seconds:UInt32}) AS period,
            argMax((last, bid, ask), (received_at, `_offset`, `_index`)) AS book,
            max(received_at) AS priced_at
        FROM {database}.price_ticks
        WHERE NOT repeated AND price_ticks.market GLOBAL IN (SELECT market FROM {database}.trade_states)
        GROUP BY market, period
    ),
    -- Each step is a subquery of its own: ClickHouse plans nested aliases of one SELECT many times slower.
    joined AS
    (
        SELECT
            grid.account AS account,
            grid.event AS event,
            grid.market AS market,
            grid.asset AS asset,
            outcome,
            grid.period AS period,
            payout AS paid,
            settlement != 'open' AND grid.period >= settled_in AS is_settled,
            step.2 AS trades_to,
            step.3 AS held_shares,
            step.4 AS average_cost,
            step.5 AS held_fifo_cost,
            step.6 AS fees_to,
            step.7 AS traded_to,
            books.period != 0 AND outcome != '' AS has_price,
            priced_at,
            toDecimal128OrNull(toString(book.1), 12) AS yes_last,
            toDecimal128OrNull(toString(book.2), 12) AS yes_bid,
            toDecimal128OrNull(toString(book.3), 12) AS yes_ask
        FROM grid
        ASOF LEFT JOIN books ON grid.market = books.market AND grid.period >= books.period
        WHERE NOT throwIf({price:String} NOT IN ('chance', 'mid', 'bid'), 'price is chance, mid or bid')
    ),
    priced AS
    (
        SELECT
            account,
            event,
            market,
            asset,
            outcome,
            period,
            trades_to,
            fees_to,
            traded_to,
            priced_at,
            if(is_settled, nothing, held_shares) AS shares,
            if(is_settled, nothing, average_cost) AS cost,
            if(is_settled, nothing, held_fifo_cost) AS fifo_cost,
            if(is_settled, paid, nothing) AS payout_to,
            multiIf(
                is_settled OR NOT has_price, NULL,
                {price:String} = 'chance', if(outcome = 'NO', 1 - yes_last, yes_last),
                {price:String} = 'mid', if(yes_bid <= yes_ask, if(outcome = 'NO', 1 - (yes_bid + yes_ask) / 2, (yes_bid + yes_ask) / 2), NULL),
                outcome = 'NO', 1 - yes_ask,
                yes_bid
            ) AS price
        FROM joined
    ),
    valued AS
    (
        SELECT
            *,
            if(price IS NULL, NULL, priced_at) AS price_at,
            if(shares = 0, nothing, CAST(toDecimal256(shares, 12) * toDecimal256(price, 12), 'Nullable(Decimal(38, 12))')) AS value,
            traded_to + payout_to AS cash_flow_to
        FROM priced
    ),
    sums AS
    (
        SELECT *, cash_flow_to + value - fees_to AS pnl_to
        FROM valued
    )
SELECT
    account,
    event,
    market,
    asset,
    outcome,
    begins_at,
    trades,
    shares,
    price,
    price_age_seconds,
    value,
    cost,
    fifo_cost,
    fees,
    payout,
    realised_pnl,
    fifo_realised_pnl,
    cash_flow,
    unrealised_pnl,
    fifo_unrealised_pnl,
    pnl,
    assumeNotNull(observed) AS observed,
    assumeNotNull(backfilled) AS backfilled,
    assumeNotNull(missing) AS missing,
    complete_to
FROM
(
    SELECT
        *,
        arrayFirst(one -> one.1 = account, completeness).2 AS complete_to,
        begins_at + toIntervalSecond({period_seconds:UInt32}) AS ends_at,
{history_fractions}
    FROM
    (
        SELECT
            account,
            event,
            market,
            asset,
            outcome,
            toDateTime64(period, 6, 'UTC') AS begins_at,
            toUInt64(trades_to - lagInFrame(trades_to, 1, 0) OVER own) AS trades,
            shares,
            price,
            if(price_at IS NULL, NULL, greatest(0, dateDiff('microsecond', assumeNotNull(price_at), least(now64(6, 'UTC'), begins_at + toIntervalSecond({period_seconds:UInt32}))) / 1e6)) AS price_age_seconds,
            value,
            cost,
            fifo_cost,
            fees_to - lagInFrame(fees_to, 1, nothing) OVER own AS fees,
            payout_to - lagInFrame(payout_to, 1, nothing) OVER own AS payout,
            cash_flow_to + cost - lagInFrame(cash_flow_to + cost, 1, nothing) OVER own AS realised_pnl,
            cash_flow_to + fifo_cost - lagInFrame(cash_flow_to + fifo_cost, 1, nothing) OVER own AS fifo_realised_pnl,
            cash_flow_to - lagInFrame(cash_flow_to, 1, nothing) OVER own AS cash_flow,
            value - cost AS unrealised_pnl,
            value - fifo_cost AS fifo_unrealised_pnl,
            pnl_to - ifNull(anyLast(pnl_to) OVER before, nothing) AS pnl
        FROM sums
        WINDOW
            own AS (PARTITION BY account, asset ORDER BY period ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
            before AS (PARTITION BY account, asset ORDER BY period ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    )
);
