-- In which ranges was an event observed, cut into long buckets for computing the completeness of many periods?
--
-- The basis of the completeness of candles: the ranges of completeness_ranges, cut at the bounds of buckets. A bucket is the shortest
-- multiple of period_seconds that is at least a day, counted from the Unix epoch, so a period of period_seconds lies within one:
--   bucket = intDiv(toUnixTimestamp(begins_at), period_seconds * intDiv(86399 + period_seconds, period_seconds))
-- With period_seconds = 2592000, which is a calendar month in UTC, a bucket is a month.
-- One row per stream, event and bucket in which it was open or observed.
CREATE OR REPLACE VIEW {database}.completeness_buckets
(
    `stream` String COMMENT '{stream_names}',
    `event` String COMMENT 'Event ID; for orders and balance the name of the account, for feed its name',
    `bucket` UInt64 COMMENT 'Number of the bucket since the Unix epoch',
    `open_from` DateTime64(6, 'UTC') COMMENT 'As in completeness_ranges',
    `open_to` DateTime64(6, 'UTC') COMMENT 'As in completeness_ranges',
    `ranges` Array(Tuple(begins_at DateTime64(6, 'UTC'), ends_at DateTime64(6, 'UTC'))) COMMENT 'The observed ranges within the bucket, in order'
)
AS
WITH
{completeness_bucket},
    (bucket_number -> if(
        {period_seconds:UInt32} = 2592000,
        toDateTime64(0, 6, 'UTC') + toIntervalMonth(bucket_number),
        fromUnixTimestamp64Micro(toInt64(bucket_number * 1000000 * {period_seconds:UInt32} * intDiv(86399 + {period_seconds:UInt32}, {period_seconds:UInt32})), 'UTC')
    )) AS bucket_start
SELECT
    stream,
    event,
    bucket,
    any(lifetimes.open_from) AS open_from,
    any(lifetimes.open_to) AS open_to,
    arraySort(groupArrayIf(
        CAST(
            (
                greatest(range.1, bucket_start(bucket)),
                least(range.2, bucket_start(bucket + 1))
            ),
            'Tuple(begins_at DateTime64(6, \'UTC\'), ends_at DateTime64(6, \'UTC\'))'
        ),
        range.3
    )) AS ranges
FROM
(
    SELECT
        stream,
        event,
        completeness.open_from AS open_from,
        completeness.open_to AS open_to,
        -- Every bucket of the open time has a row.
        arrayJoin(arrayPushBack(
            arrayMap(observed -> (observed.1, observed.2, true), completeness.ranges),
            (completeness.open_from, completeness.open_to, false)
        )) AS range
    FROM {database}.completeness_ranges AS completeness
) AS lifetimes
ARRAY JOIN range(
    completeness_bucket(range.1),
    completeness_bucket(range.2) + 1
) AS bucket
GROUP BY stream, event, bucket;
