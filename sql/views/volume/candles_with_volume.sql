-- How did the price of a market move, and how much was traded meanwhile?
--
--   SELECT * FROM candles_with_volume(period_seconds = 3600) WHERE market = '...' AND begins_at >= now() - INTERVAL 1 DAY
--
-- One row per period, event and market with ticks or with fills of all users. Prices and completeness are those of candles,
-- which has the formulas; they are in receive time. trades, shares, volume and vwap are sums of fills of the scope all, in
-- exchange time. The two times differ by the delay of the stream, so a trade close to the end of a period may be in the row before or
-- after that of its tick. Prices are NULL in a period without ticks, trades are 0 in a period without fills. All four
-- are NULL where they are unknown: until the activity feed was read to its end once, and in periods that begin at volume_complete_to or
-- later. Completeness of these four, as fractions of the elapsed part of the period:
--   volume_observed = the part before volume_complete_to
--   volume_missing  = 1 - volume_observed, the part in which fills may be missing
-- observed, backfilled and missing are of the prices alone.
CREATE OR REPLACE VIEW {database}.candles_with_volume
(
    `event` String COMMENT 'Event ID; empty when it is unknown',
    `market` String COMMENT 'Market ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period',
    `open` Nullable(Float64) COMMENT 'First price of the last trade in the period, in YES terms',
    `high` Nullable(Float64) COMMENT 'Highest price of the last trade in the period, in YES terms',
    `low` Nullable(Float64) COMMENT 'Lowest price of the last trade in the period, in YES terms',
    `close` Nullable(Float64) COMMENT 'Last price of the last trade in the period, in YES terms',
    `ticks` UInt64 COMMENT 'Rows of price_ticks in the period that are neither repeated nor a resolution',
    `trades` Nullable(UInt64) COMMENT 'Number of fills of all users; NULL when it is unknown',
    `shares` Nullable(Decimal(38, 12)) COMMENT 'Shares that changed hands; NULL when it is unknown',
    `volume` Nullable(Decimal(38, 12)) COMMENT 'Sum of quantity × price of the taker''s asset, USDC; NULL when it is unknown',
    `vwap` Nullable(Float64) COMMENT 'Volume-weighted average price in YES terms, over the fills with a known outcome; NULL when there is none',
    `observed` Nullable(Float64) COMMENT 'Fraction of the open part of the period in which the event was observed, 0 to 1; NULL in a period without ticks: see coverage',
    `backfilled` Nullable(Float64) COMMENT 'Fraction of the open part of the period that was fetched from history, 0 to 1: 0, or NULL as observed',
    `missing` Nullable(Float64) COMMENT 'Fraction of the open part of the period that was neither observed nor backfilled, 0 to 1; NULL as observed',
    `volume_observed` Float64 COMMENT 'Fraction of the elapsed part of the period that the activity feed is complete for, 0 to 1: of trades, shares, volume and vwap',
    `volume_missing` Float64 COMMENT 'Fraction of the elapsed part of the period in which fills may be missing, 1 - volume_observed, 0 to 1',
    `volume_complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every fill up to this time is included, by our clock; NULL before the feed was read to its end'
)
AS
WITH
{period_functions}
SELECT
    event,
    market,
    begins_at,
    open,
    high,
    low,
    close,
    ticks,
    if(is_known, sum_of_trades, NULL) AS trades,
    if(is_known, sum_of_shares, NULL) AS shares,
    if(is_known, sum_of_volume, NULL) AS volume,
    if(is_known AND priced_shares != 0, toFloat64(sum_of_yes_value) / toFloat64(priced_shares), NULL) AS vwap,
    book_observed AS observed,
    book_backfilled AS backfilled,
    book_missing AS missing,
    volume_observed,
    volume_missing,
    complete_to AS volume_complete_to
FROM
(
    SELECT *, assumeNotNull(observed) AS volume_observed, assumeNotNull(missing) AS volume_missing
    FROM
    (
        SELECT
            *,
            ifNull(begins_at < complete_to, false) AS is_known,
            period_end(begins_at) AS ends_at,
        {history_fractions}
        FROM
        (
            -- Not a join: a filter on market, event or begins_at reaches both parts through GROUP BY and UNION ALL.
            SELECT
                event,
                market,
                begins_at,
                any(periods.open) AS open,
                any(periods.high) AS high,
                any(periods.low) AS low,
                any(periods.close) AS close,
                sum(periods.ticks) AS ticks,
                any(periods.observed) AS book_observed,
                any(periods.backfilled) AS book_backfilled,
                any(periods.missing) AS book_missing,
                sum(periods.trades) AS sum_of_trades,
                sum(periods.shares) AS sum_of_shares,
                sum(periods.volume) AS sum_of_volume,
                sum(periods.yes_value) AS sum_of_yes_value,
                sum(periods.priced) AS priced_shares
            FROM
            (
                SELECT
                    event,
                    market,
                    begins_at,
                    toNullable(open) AS open,
                    toNullable(high) AS high,
                    toNullable(low) AS low,
                    toNullable(close) AS close,
                    ticks,
                    toNullable(observed) AS observed,
                    toNullable(backfilled) AS backfilled,
                    toNullable(missing) AS missing,
                    0 AS trades,
                    toDecimal128(0, 12) AS shares,
                    toDecimal128(0, 12) AS volume,
                    toDecimal128(0, 12) AS yes_value,
                    toDecimal128(0, 12) AS priced
                FROM {database}.candles(period_seconds = {period_seconds:UInt32})
                UNION ALL
                SELECT
                    event,
                    market,
                    begins_at,
                    NULL AS open,
                    NULL AS high,
                    NULL AS low,
                    NULL AS close,
                    0 AS ticks,
                    NULL AS observed,
                    NULL AS backfilled,
                    NULL AS missing,
                    trades,
                    shares,
                    volume,
                    yes_value,
                    shares - unpriced_shares AS priced
                FROM
                (
                    SELECT
                        event,
                        market,
                        assumeNotNull(period_start(executed_at)) AS begins_at,
{fill_sums}
                    FROM {database}.activity
                    WHERE executed_at IS NOT NULL
                    GROUP BY event, market, begins_at
                )
            ) AS periods
            GROUP BY event, market, begins_at
        ) AS summed
        CROSS JOIN (SELECT maxOrNull(history_completeness.complete_to) AS complete_to FROM {database}.history_completeness WHERE operation = 'activity') AS read_to
    )
);
