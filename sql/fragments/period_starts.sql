-- The starts of the periods of period_functions that overlap a range without its end, in order.
((range_from, range_to) -> if(
    {period_seconds:UInt32} = 2592000,
    arrayMap(month -> period_start(range_from) + toIntervalMonth(month), range(toUInt64(greatest(0, 1 + dateDiff('month', range_from, range_to - toIntervalMicrosecond(1)))))),
    arrayMap(second -> toDateTime64(second, 6, 'UTC'), range(
        intDiv(toUnixTimestamp64Micro(range_from), 1000000 * toInt64({period_seconds:UInt32})) * {period_seconds:UInt32},
        intDiv(toUnixTimestamp64Micro(range_to) + 999999, 1000000),
        {period_seconds:UInt32}
    ))
)) AS period_starts
