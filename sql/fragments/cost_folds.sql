-- The rows of position_costs of the trades `chosen_trades`, in periods of `period_length` seconds. The statement around it defines both.
WITH
    toDecimal128(0, 12) AS nothing,
    fills AS
    (
        SELECT
            account,
            asset,
            max(event) AS event,
            max(market) AS market,
            -- An array of each column: ClickHouse aggregates numbers faster than tuples.
            arraySort(fill -> fill.1, arrayZip(
                groupArray(rank), groupArray(is_sale), groupArray(quantity), groupArray(price), groupArray(worth), groupArray(paid_fee), groupArray(has_time)
            )) AS ordered
        FROM
        (
            SELECT
                account, asset, event, market, side = 'SELL' AS is_sale, quantity, price, ifNull(fee, nothing) AS paid_fee, executed_at IS NOT NULL AS has_time,
                -- trade_order of trades as one number, which is sorted faster; computed here, as ClickHouse cannot read the parts of
                -- that tuple through the view.
                bitShiftLeft(toInt256(toUnixTimestamp64Micro(ifNull(executed_at, received_at))), 128)
                    + bitShiftLeft(toInt256(toUnixTimestamp64Micro(pass_began_at)), 64)
                    + bitShiftLeft(toUInt64(4294967295 - page), 32) + toUInt64(4294967295 - `_index`) AS rank,
                -- quantity × price in units of 10^-24, and in whole millionths.
                reinterpret(quantity, 'Int128') * reinterpret(price, 'Int128') AS product,
                intDiv(product, 1000000000000000000) AS millionths,
                2 * (product - millionths * 1000000000000000000) AS twice_the_rest,
                -- roundBankers of a Decimal256 is slow: only for products that are too large for an Int128.
                if(
                    quantity BETWEEN 0 AND 10000000000000 AND price BETWEEN 0 AND 10,
                    reinterpret(
                        1000000 * (millionths + (twice_the_rest > 1000000000000000000 OR (twice_the_rest = 1000000000000000000 AND millionths % 2 = 1))),
                        'Decimal(38, 12)'
                    ),
                    CAST(roundBankers(toDecimal256(quantity, 12) * toDecimal256(price, 12), 6), 'Decimal(38, 12)')
                ) AS worth
            FROM chosen_trades
        )
        GROUP BY account, asset
    ),
    flows AS
    (
        SELECT
            account,
            -- All assets of an account in one row, then in one block: the fold takes as long for one asset as for all of a block.
            groupArray((asset, event, market, ordered)) AS assets
        FROM fills
        GROUP BY account
    ),
    sums AS
    (
        SELECT
            account,
            traded.1 AS asset,
            traded.2 AS event,
            traded.3 AS market,
            arrayMap(rank -> toInt64(bitShiftRight(rank, 128)), traded.4.1) AS times,
            arrayMap(time -> intDiv(intDiv(time, 1000000), greatest(period_length, 1)) * period_length, times) AS periods,
            arrayMap((quantity, is_sale) -> if(is_sale, quantity, nothing), traded.4.3, traded.4.2) AS sold,
            arrayMap((quantity, is_sale) -> if(is_sale, nothing, quantity), traded.4.3, traded.4.2) AS bought,
            traded.4.4 AS prices,
            traded.4.7 AS have_times,
            arrayCumSum(sold) AS running_sold_shares,
            arrayCumSum(arrayMap((worth, is_sale) -> if(is_sale, worth, nothing), traded.4.5, traded.4.2)) AS running_sold_value,
            arrayCumSum(bought) AS running_bought_shares,
            arrayCumSum(arrayMap((worth, is_sale) -> if(is_sale, nothing, worth), traded.4.5, traded.4.2)) AS running_bought_value,
            arrayCumSum(traded.4.6) AS running_fees,
            arrayMap((bought, sold) -> bought - sold, running_bought_shares, running_sold_shares) AS held,
            -- The purchases: price, and shares and worth of it and all before it.
            arrayFilter((price, bought) -> bought > 0, prices, bought) AS lot_prices,
            arrayFilter((shares, bought) -> bought > 0, running_bought_shares, bought) AS lot_shares,
            arrayFilter((value, bought) -> bought > 0, running_bought_value, bought) AS lot_values,
            -- Whether it is the last trade of a period.
            arrayMap((period, next) -> period != next, periods, arrayPushBack(arrayPopFront(periods), periods[-1] + 1)) AS are_ends
        FROM flows
        ARRAY JOIN assets AS traded
    ),
    steps AS
    (
        SELECT
            *,
            arrayFilter((number, is_end) -> is_end, arrayEnumerate(are_ends), are_ends) AS numbers,
            arrayMap((sold, is_end) -> sold > 0 OR is_end, sold, are_ends) AS are_steps,
            arrayFilter((is_end, is_step) -> is_step, are_ends, are_steps) AS step_ends,
            arrayFilter((sold, is_step) -> is_step, sold, are_steps) AS step_sold,
            -- Decimals are compared: compiled by ClickHouse, greatest and least of Int128 are wrong for negative numbers.
            arrayMap(
                (held, sold) -> greatest(held + sold, toDecimal128('0.000000000001', 12)),
                arrayFilter((held, is_step) -> is_step, held, are_steps), step_sold
            ) AS step_held_shares,
            arrayMap(held -> toInt128(held * 1000000000000), step_held_shares) AS step_held,
            arrayMap((sold, held) -> toInt128(least(sold, held) * 1000000000000), step_sold, step_held_shares) AS step_leaving,
            arrayMap(paid -> toInt128(paid * 1000000), arrayFilter((paid, is_step) -> is_step, running_bought_value, are_steps)) AS step_paid,
            arrayMap((paid, before) -> paid - before, step_paid, arrayPopBack(arrayPushFront(step_paid, toInt128(0)))) AS step_added
        FROM sums
    )
SELECT
    CAST(account, 'String') AS account,
    CAST(event, 'String') AS event,
    CAST(market, 'String') AS market,
    CAST(asset, 'String') AS asset,
    toDateTime64(periods[number], 6, 'UTC') AS begins_at,
    toUInt64(number) AS trades,
    if(have_times[number], fromUnixTimestamp64Micro(times[number], 'UTC'), NULL) AS last_trade_at,
    running_bought_shares[number] AS bought_shares,
    running_bought_value[number] AS bought_value,
    running_sold_shares[number] AS sold_shares,
    running_sold_value[number] AS sold_value,
    running_fees[number] AS fees,
    toDecimal128(toString(average), 12) / 1000000 AS average_cost,
    if(
        first_lot = 0,
        nothing,
        running_bought_value[number] - arrayPushFront(lot_values, nothing)[first_lot]
        - CAST(roundBankers(
            toDecimal256(least(running_sold_shares[number], running_bought_shares[number]) - arrayPushFront(lot_shares, nothing)[first_lot], 12)
            * toDecimal256(lot_prices[first_lot], 12), 6
        ), 'Decimal(38, 12)')
    ) AS fifo_cost,
    greatest(-lowest_held, nothing) AS oversold_shares
FROM
(
    SELECT
        *,
        arrayFold(
            -- x is cost × leaving ÷ held; intDiv(2·cost·leaving + held, 2·held) is x rounded half up, and one too much where
            -- x lies in the middle and that is odd: there the remainder of 4·held is 2·held.
            (known, leaving, held, added, is_end) -> (
                known.1 + added
                - intDiv(2 * (known.1 + added) * leaving + held, 2 * held)
                + ((2 * (known.1 + added) * leaving + held) % (4 * held) = 2 * held) AS cost,
                if(is_end, arrayPushBack(known.2, cost), known.2)
            ),
            step_leaving, step_held, step_added, step_ends, (toInt128(0), CAST([], 'Array(Int128)'))
        ).2 AS averages,
        arrayMap(
            -- The first purchase that is not sold whole.
            number -> arrayFirstIndex(shares -> shares > least(running_sold_shares[number], running_bought_shares[number]), lot_shares),
            numbers
        ) AS first_lots,
        -- Not arraySlice, which would copy the trades up to each number.
        arrayReduceInRanges('min', arrayMap(number -> (1, number), numbers), held) AS lowest
    FROM steps
)
ARRAY JOIN numbers AS number, averages AS average, first_lots AS first_lot, lowest AS lowest_held
