-- 2592000 is a calendar month in UTC, the period code 1m of the interface; any other period is aligned to the Unix epoch.
(period_time -> if(
    {period_seconds:UInt32} = 2592000,
    toDateTime64(toStartOfMonth(period_time), 6, 'UTC'),
    toStartOfInterval(period_time, toIntervalMicrosecond(1000000 * {period_seconds:UInt32}))
)) AS period_start,
(period_begin -> if(
    {period_seconds:UInt32} = 2592000,
    period_begin + toIntervalMonth(1),
    period_begin + toIntervalSecond({period_seconds:UInt32})
)) AS period_end
