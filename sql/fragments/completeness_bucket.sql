-- The number of the bucket of completeness_buckets, which has the rule.
(bucket_time -> if(
    {period_seconds:UInt32} = 2592000,
    toUInt64(dateDiff('month', toDateTime64(0, 6, 'UTC'), bucket_time)),
    toUInt64(intDiv(toUnixTimestamp(bucket_time), {period_seconds:UInt32} * intDiv(86399 + {period_seconds:UInt32}, {period_seconds:UInt32})))
)) AS completeness_bucket
