-- Of every asset of an account in the trades `chosen_trades`: arrays with the sums and costs of position_costs at the ends of the periods
-- in which it was traded. The statement around it defines chosen_trades, and period_seconds is its argument. Every step takes time in
-- proportion to the trades, at any length of a period: no lambda captures an array, because ClickHouse copies it for each element.
WITH
    toDecimal128(0, 12) AS nothing,
{period_functions},
{account_flows}
    sums AS
    (
        SELECT
            account,
            traded.1 AS asset,
            traded.2 AS event,
            traded.3 AS market,
            arrayMap(rank -> toInt64(bitShiftRight(rank, 128)), traded.4.1) AS times,
            arrayMap(
                time -> if({period_seconds:UInt32} = 0, toDateTime64(0, 6, 'UTC'), period_start(fromUnixTimestamp64Micro(time, 'UTC'))),
                times
            ) AS periods,
{running_sums}
        FROM flows
        ARRAY JOIN assets AS traded
    ),
    steps AS
    (
        SELECT
            *,
            arrayFilter((number, is_end) -> is_end, arrayEnumerate(are_ends), are_ends) AS numbers,
{cost_steps}
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
    arrayFilter((period, is_end) -> is_end, periods, are_ends) AS end_periods,
    numbers,
    end_times,
    end_have_times,
    end_bought_shares,
    end_bought_value,
    end_sold_shares,
    arrayFilter((value, is_end) -> is_end, running_sold_value, are_ends) AS end_sold_value,
    arrayFilter((paid, is_end) -> is_end, running_fees, are_ends) AS end_fees,
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
    ) AS end_average_costs,
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
    ) AS end_fifo_costs,
    -- Not arraySlice, which would copy the trades up to each number.
    arrayReduceInRanges('min', arrayMap(number -> (1, number), numbers), held) AS lowest_shares
FROM chunked
