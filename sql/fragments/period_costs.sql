-- Of every asset of an account in the trades `chosen_trades`: `steps`, the sums and costs of position_costs at the ends of the periods in
-- which it was traded, as in the column `days` of position_states. The statement around it defines chosen_trades, and period_of, which
-- gives the start of the period of a time. Every step takes time in proportion to the trades, at any length of a period: no lambda
-- captures an array, because ClickHouse copies it for each element.
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
                groupArray(rank), groupArray(is_sale), groupArray(quantity), groupArray(price), groupArray(fill_value), groupArray(paid_fee), groupArray(has_time)
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
                ) AS fill_value
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
            arrayMap(time -> period_of(fromUnixTimestamp64Micro(time, 'UTC')), times) AS periods,
            arrayMap((quantity, is_sale) -> if(is_sale, quantity, nothing), traded.4.3, traded.4.2) AS sold,
            arrayMap((quantity, is_sale) -> if(is_sale, nothing, quantity), traded.4.3, traded.4.2) AS bought,
            traded.4.4 AS prices,
            traded.4.7 AS have_times,
            arrayCumSum(sold) AS running_sold_shares,
            arrayCumSum(arrayMap((fill_value, is_sale) -> if(is_sale, fill_value, nothing), traded.4.5, traded.4.2)) AS running_sold_value,
            arrayCumSum(bought) AS running_bought_shares,
            arrayCumSum(arrayMap((fill_value, is_sale) -> if(is_sale, nothing, fill_value), traded.4.5, traded.4.2)) AS running_bought_value,
            arrayCumSum(traded.4.6) AS running_fees,
            arrayMap((bought, sold) -> bought - sold, running_bought_shares, running_sold_shares) AS held,
            -- The purchases: price, and shares and value of it and all before it.
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
    ),
    ends AS
    (
        SELECT
            *,
            arrayFilter((time, is_end) -> is_end, times, are_ends) AS end_times,
            arrayFilter((has_time, is_end) -> is_end, have_times, are_ends) AS end_have_times,
            arrayFilter((shares, is_end) -> is_end, running_bought_shares, are_ends) AS end_bought_shares,
            arrayFilter((value, is_end) -> is_end, running_bought_value, are_ends) AS end_bought_value,
            arrayFilter((shares, is_end) -> is_end, running_sold_shares, are_ends) AS end_sold_shares,
            arrayMap((sold, bought) -> least(sold, bought), end_sold_shares, end_bought_shares) AS end_gone,
            -- How many purchases are sold whole at each end: lots and ends in the order of their shares, a lot before an equal end.
            arraySort(arrayConcat(
                arrayMap(shares -> 2 * reinterpret(shares, 'Int128'), lot_shares),
                arrayMap(shares -> 2 * reinterpret(shares, 'Int128') + 1, end_gone)
            )) AS lots_and_ends,
            arrayMap(key -> bitAnd(key, 1) = 1, lots_and_ends) AS are_not_lots,
            arrayFilter((sold_lots, is_end) -> is_end, arrayCumSum(is_end -> NOT is_end, are_not_lots), are_not_lots) AS sold_lots,
            arrayMap(sold_lots -> (sold_lots + 1, 1), sold_lots) AS lot_ranges,
            -- The fold is split into chunks, because each of its steps copies the costs that it has found before.
            greatest(64, toUInt64(sqrt(length(numbers)))) AS chunk_ends,
            arrayMap((ended, is_end) -> intDiv(ended - is_end, chunk_ends), arrayCumSum(step_ends), step_ends) AS chunks,
            arrayMap((chunk, previous) -> chunk != previous, chunks, arrayPushFront(arrayPopBack(chunks), chunks[1])) AS are_chunk_starts,
            arrayMap((chunk, next) -> chunk != next, chunks, arrayPushBack(arrayPopFront(chunks), chunks[-1])) AS are_chunk_ends,
            chunks[-1] AS last_chunk
        FROM steps
    ),
    chunked AS
    (
        SELECT
            *,
            arrayFold(
{average_cost}
                arrayFilter((leaving, chunk) -> chunk < last_chunk, step_leaving, chunks),
                arrayFilter((held, chunk) -> chunk < last_chunk, step_held, chunks),
                arrayFilter((added, chunk) -> chunk < last_chunk, step_added, chunks),
                arrayFilter((is_end, chunk) -> chunk < last_chunk, are_chunk_ends, chunks),
                (toInt128(0), CAST([], 'Array(Int128)'))
            ).2 AS chunk_costs
        FROM ends
    )
SELECT
    account,
    asset,
    event,
    market,
    arrayZip(
        arrayFilter((period, is_end) -> is_end, periods, are_ends),
        arrayMap(number -> toUInt64(number), numbers),
        arrayMap((time, has_time) -> if(has_time, fromUnixTimestamp64Micro(time, 'UTC'), NULL), end_times, end_have_times),
        end_bought_shares,
        end_bought_value,
        end_sold_shares,
        arrayFilter((value, is_end) -> is_end, running_sold_value, are_ends),
        arrayFilter((paid, is_end) -> is_end, running_fees, are_ends),
        end_costs,
        end_fifo_costs,
        -- Not arraySlice, which would copy the trades up to each number.
        arrayMap(lowest -> greatest(-lowest, nothing), arrayReduceInRanges('min', arrayMap(number -> (1, number), numbers), held))
    ) AS steps
FROM
(
    SELECT
        *,
        arrayMap(
            average -> reinterpret(1000000 * average, 'Decimal(38, 12)'),
            arrayFlatten(arrayMap(
                (cost_before, chunk_leaving, chunk_held, chunk_added, chunk_is_end) -> arrayFold(
{average_cost}
                    chunk_leaving, chunk_held, chunk_added, chunk_is_end, (cost_before, CAST([], 'Array(Int128)'))
                ).2,
                arrayPushFront(chunk_costs, toInt128(0)),
                arraySplit((leaving, is_start) -> is_start, step_leaving, are_chunk_starts),
                arraySplit((held, is_start) -> is_start, step_held, are_chunk_starts),
                arraySplit((added, is_start) -> is_start, step_added, are_chunk_starts),
                arraySplit((is_end, is_start) -> is_start, step_ends, are_chunk_starts)
            ))
        ) AS end_costs,
        arrayMap(
            (value, gone, sold_lots, value_before, shares_before, price) -> if(
                sold_lots = length(lot_shares),
                nothing,
                value - value_before - CAST(roundBankers(toDecimal256(gone - shares_before, 12) * toDecimal256(price, 12), 6), 'Decimal(38, 12)')
            ),
            end_bought_value, end_gone, sold_lots,
            -- Elements by their numbers.
            arrayReduceInRanges('any', lot_ranges, arrayPushFront(lot_values, nothing)),
            arrayReduceInRanges('any', lot_ranges, arrayPushFront(lot_shares, nothing)),
            arrayReduceInRanges('any', lot_ranges, arrayPushBack(lot_prices, nothing))
        ) AS end_fifo_costs
    FROM chunked
)
