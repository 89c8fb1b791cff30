-- What was the profit or loss of every account and asset in each period?
--
--   SELECT * FROM pnl_by_period(period_seconds = 86400, price = 'chance') WHERE account = '...' ORDER BY asset, begins_at
--
-- One row per account, asset and period, from the first trade (or the payout, where no trade is known) to the settlement, or to now while shares are held, else to the
-- last trade. Periods are in exchange time and aligned to the Unix epoch; period_seconds = 2592000 stands for calendar months in UTC.
-- `price` says how the held shares are valued: by the last tick of the market before the end of the period; NULL where there is none, or no such price:
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
    `cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares at the end (average cost method), USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares at the end (first in, first out), USDC',
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
    -- Compared faster than the list of blocks.
    (SELECT if(count() = 0, 18446744073709551615, min(block) * 65536) FROM {database}.price_blocks FINAL WHERE rollup_id = 0) AS first_offset,
{period_functions},
{period_starts},
    (period_time -> period_start(period_time)) AS period_of,
    -- An asset of an account is one row until here. A payout without trades is a step of its own. settled_from is never in a market that
    -- is open. Comparisons are in SELECTs of their own and not joined by AND, because ClickHouse takes long to plan such chains on top of
    -- many subqueries.
    lifetimes AS
    (
        SELECT
            *,
            greatest(settled_from, cost_steps[1].1) AS paid_in,
            greatest(cost_steps[-1].1, multiIf(settlement != 'open', settled_from, held_shares != 0, period_start(now64(6, 'UTC')), cost_steps[-1].1)) AS last_period
        FROM
        (
            SELECT
                account, event, market, asset, outcome, held_shares, settlement, payout,
                if(settlement = 'open', toDateTime64('2299-12-31 00:00:00', 6, 'UTC'), period_start(ifNull(settled_at, now64(6, 'UTC')))) AS settled_from,
{period_steps},
                if(
                    empty(periods),
                    [(period_start(ifNull(settled_at, now64(6, 'UTC'))), toUInt64(0), nothing, nothing, nothing, nothing, nothing)],
                    arrayMap((period, step) -> (period, step.2, step.4 - step.6, step.9, step.10, step.8, step.7 - step.5), periods, last_steps)
                ) AS cost_steps
            FROM
            (
                SELECT account, event, market, asset, outcome, held_shares, settlement, payout, settled_at, if({period_seconds:UInt32} % 86400 = 0, days, trade_steps) AS steps
                FROM {database}.settled_positions
                LEFT JOIN
                (
                    SELECT account, asset, steps AS trade_steps FROM {database}.trade_costs WHERE {period_seconds:UInt32} % 86400 != 0
                ) AS costs USING (account, asset)
            )
        )
    ),
    -- The costs at the end of a period with trades are those of all periods until the next one with trades. `before` is what they were at
    -- the end of the period before.
    grid AS
    (
        SELECT
            account, asset, event, market, outcome, payout, step, period,
            if(period = step.1, previous_step, step) AS before,
            period >= settled_from AS is_settled,
            period > paid_in AS was_settled,
            period = paid_in AS pays_now
        FROM
        (
            SELECT account, asset, event, market, outcome, payout, settled_from, paid_in, step, previous_step, next_period
            FROM lifetimes
            ARRAY JOIN
                cost_steps AS step,
                arrayPushFront(arrayPopBack(cost_steps), (toDateTime64(0, 6, 'UTC'), toUInt64(0), nothing, nothing, nothing, nothing, nothing)) AS previous_step,
                arrayPushBack(arrayPopFront(cost_steps.1), last_period + toIntervalMicrosecond(1)) AS next_period
        )
        -- Not the function arrayJoin, which makes one block of all rows.
        ARRAY JOIN period_starts(step.1, next_period) AS period
    ),
    -- The last tick of every traded market in a period: of whole hours and days from price_hours and price_days, as in candle_prices. These
    -- do not hold the resolution of a market.
    books AS
    (
        SELECT
            market,
            period_start(starts_at) AS period,
            1 AS is_priced,
            argMax(hours.close, hours.last_tick) AS last,
            argMax(ifNull(hours.closing_bid, -1), hours.last_tick) AS bid,
            argMax(ifNull(hours.closing_ask, -1), hours.last_tick) AS ask,
            fromUnixTimestamp64Micro(toInt64(bitShiftRight(max(hours.last_tick), 64)), 'UTC') AS priced_at
        FROM
        (
            SELECT toString(price_hours.market) AS market, begins_at AS starts_at, close, closing_bid, closing_ask, last_tick
            FROM {database}.price_hours
            WHERE {period_seconds:UInt32} % 3600 = 0
                AND price_hours.market GLOBAL IN (SELECT market FROM {database}.trade_states)
                AND rollup_id GLOBAL IN (SELECT rollup_id FROM {database}.price_blocks FINAL WHERE {period_seconds:UInt32} % 86400 != 0 OR days_id = 0)
            UNION ALL
            SELECT toString(price_days.market) AS market, begins_at AS starts_at, close, closing_bid, closing_ask, last_tick
            FROM {database}.price_days
            WHERE {period_seconds:UInt32} % 86400 = 0
                AND price_days.market GLOBAL IN (SELECT market FROM {database}.trade_states)
                AND rollup_id GLOBAL IN (SELECT days_id FROM {database}.price_blocks FINAL)
            UNION ALL
            SELECT
                toString(price_ticks.market) AS market,
                period_start(received_at) AS starts_at,
                argMax(toFloat64(last), bitShiftLeft(toUInt128(toUnixTimestamp64Micro(received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS tick) AS close,
                nullIf(argMax(ifNull(toFloat64(bid), -1), tick), -1) AS closing_bid,
                nullIf(argMax(ifNull(toFloat64(ask), -1), tick), -1) AS closing_ask,
                max(tick) AS last_tick
            FROM {database}.price_ticks
            WHERE NOT repeated AND price_ticks.market GLOBAL IN (SELECT market FROM {database}.trade_states)
                AND (
                    {period_seconds:UInt32} % 3600 != 0
                    OR `_offset` >= first_offset AND (`_log`, `_partition`, intDiv(`_offset`, 65536)) GLOBAL IN (SELECT `_log`, `_partition`, block FROM {database}.price_blocks FINAL WHERE rollup_id = 0)
                )
            GROUP BY market, starts_at
            UNION ALL
            -- Resolutions. Not joined to the condition above by OR, so that the index of offsets is used there and that of prices here.
            SELECT
                toString(price_ticks.market) AS market,
                received_at AS starts_at,
                toFloat64(last) AS close,
                toFloat64(bid) AS closing_bid,
                toFloat64(ask) AS closing_ask,
                bitShiftLeft(toUInt128(toUnixTimestamp64Micro(received_at)), 64) + bitShiftLeft(`_offset`, 24) + `_index` AS last_tick
            FROM {database}.price_ticks
            WHERE {period_seconds:UInt32} % 3600 = 0 AND NOT repeated AND last IN (0, 1)
                AND price_ticks.market GLOBAL IN (SELECT market FROM {database}.trade_states)
        ) AS hours
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
            step.2 - before.2 AS trades,
            if(is_settled, nothing, step.3) AS shares,
            if(is_settled, nothing, step.4) AS cost,
            if(is_settled, nothing, step.5) AS fifo_cost,
            if(was_settled, nothing, before.4) AS cost_before,
            if(was_settled, nothing, before.5) AS fifo_cost_before,
            step.6 - before.6 AS fees,
            if(pays_now, payout, nothing) AS paid,
            step.7 - before.7 AS net_sales,
            step.7 - step.6 + if(is_settled, payout, nothing) AS realised_to,
            is_settled,
            is_priced,
            priced_at,
            toDecimal128(toString(books.last), 12) AS yes_last,
            toDecimal128OrNull(toString(nullIf(books.bid, -1)), 12) AS yes_bid,
            toDecimal128OrNull(toString(nullIf(books.ask, -1)), 12) AS yes_ask
        FROM grid
        ASOF LEFT JOIN books USING (market, period)
        WHERE NOT throwIf({price:String} NOT IN ('chance', 'mid', 'bid'), 'price is chance, mid or bid')
    ),
    priced AS
    (
        SELECT
            *,
            net_sales + paid AS cash_flow,
            multiIf(
                is_settled, NULL,
                is_priced = 0, NULL,
                outcome = '', NULL,
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
            if(shares = 0, nothing, CAST(toDecimal256(shares, 12) * toDecimal256(price, 12), 'Nullable(Decimal(38, 12))')) AS value
        FROM priced
    ),
    sums AS
    (
        SELECT *, realised_to + value AS pnl_to
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
        period_end(begins_at) AS ends_at,
{history_fractions}
    FROM
    (
        SELECT
            account,
            event,
            market,
            asset,
            outcome,
            period AS begins_at,
            toUInt64(trades) AS trades,
            shares,
            price,
            if(price IS NULL, NULL, greatest(0, dateDiff('microsecond', priced_at, least(now64(6, 'UTC'), period_end(period))) / 1e6)) AS price_age_seconds,
            value,
            cost,
            fifo_cost,
            fees,
            paid AS payout,
            cash_flow + cost - cost_before AS realised_pnl,
            cash_flow + fifo_cost - fifo_cost_before AS fifo_realised_pnl,
            cash_flow,
            value - cost AS unrealised_pnl,
            value - fifo_cost AS fifo_unrealised_pnl,
            pnl_to - ifNull(anyLast(pnl_to) OVER (PARTITION BY account, asset ORDER BY period ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), nothing) AS pnl
        FROM sums
    )
);
