-- How tight were the order books within a window that ends now?
--
-- spread_stats(window_seconds = 86400) is spread_stats_between, which has the formulas, for the last 24 hours.
CREATE OR REPLACE VIEW {database}.spread_stats
(
    `event` String COMMENT 'Event ID',
    `market` String COMMENT 'Market ID',
    `ticks` UInt64 COMMENT 'Rows of price_ticks within the window that are neither repeated nor a resolution',
    `crossed_ticks` UInt64 COMMENT 'Ticks whose bid was above the ask: left out of every spread',
    `average_spread` Nullable(Float64) COMMENT 'Average over time, 0 to 1; NULL when there was no spread',
    `median_spread` Nullable(Float64) COMMENT 'Median over time, 0 to 1',
    `p90_spread` Nullable(Float64) COMMENT '90th percentile over time, 0 to 1',
    `min_spread` Nullable(Float64) COMMENT 'Smallest spread, 0 to 1',
    `max_spread` Nullable(Float64) COMMENT 'Largest spread, 0 to 1',
    `two_sided` Nullable(Float64) COMMENT 'Fraction of the observed time in which there were both a bid and an ask, 0 to 1; NULL when nothing was observed',
    `seconds` Float64 COMMENT 'Observed time from the first tick to now'
)
AS
SELECT
    event,
    market,
    ticks,
    crossed_ticks,
    average_spread,
    median_spread,
    p90_spread,
    min_spread,
    max_spread,
    two_sided,
    seconds
FROM {database}.spread_stats_between(
    from_at = toString(now64(6, 'UTC') - toIntervalSecond({window_seconds:UInt32})),
    to_at = toString(now64(6, 'UTC'))
);
