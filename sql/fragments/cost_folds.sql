-- The rows of position_costs of the trades `chosen_trades`, in periods of `period_length` seconds. The statement around it defines both.
WITH
    toDecimal128(0, 12) AS nothing,
{account_flows}
    sums AS
    (
        SELECT
            account,
            traded.1 AS asset,
            traded.2 AS event,
            traded.3 AS market,
            arrayMap(rank -> toInt64(bitShiftRight(rank, 128)), traded.4.1) AS times,
            arrayMap(time -> intDiv(intDiv(time, 1000000), greatest(period_length, 1)) * period_length, times) AS periods,
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
{average_cost}
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
