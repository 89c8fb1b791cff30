-- How far does a trade of a given size move the price?
--
--   SELECT * FROM price_impact(level = 'market', margin_ms = 250) WHERE delay = '1 min' ORDER BY impact_per_share DESC
--
-- One row per delay (5 s, 1 min, 5 min) and market (level = 'market') or event ('event'), or one per delay over all markets ('all'). It
-- is a linear regression (least squares) over the trades of all users (scope all) of trade_quotes, which says what a quote, a mid and a
-- direction are:
--   change of mid = intercept + impact_per_share × signed size
--   change of mid = mid at executed_at + delay - mid of the quote before the trade, in YES terms
--   signed size   = direction × quantity: shares of YES bought, negative where they were sold
-- r_squared is the part of the variance of the change that the size explains. The standard error of impact_per_share is
-- sqrt((1 - r_squared) / (trades - 2) × variance of the change / variance of the size); it takes the trades as independent, which trades
-- that follow each other within the delay are not. Trades without a mid at either moment are left out and counted in unquoted_trades. The
-- figures are NULL for fewer than 30 trades, and where all sizes are equal. The side of an activity item is taken as the taker's: an assumption.
-- Filters on event and market are pushed down to the trades and to the ticks; the level all reads all of both.
CREATE OR REPLACE VIEW {database}.price_impact
(
    `event` String COMMENT 'Event ID; empty when unknown, and at level all',
    `market` String COMMENT 'Market ID; empty at the levels event and all',
    `delay` String COMMENT 'Time from the trade to the later mid: 5 s, 1 min or 5 min',
    `trades` UInt64 COMMENT 'Trades with a mid before and after',
    `unquoted_trades` UInt64 COMMENT 'Trades without one of both: left out',
    `impact_per_share` Nullable(Float64) COMMENT 'Slope: USDC per share by which mid moves for each share of YES bought',
    `standard_error` Nullable(Float64) COMMENT 'Standard error of impact_per_share, USDC per share; NULL with it',
    `intercept` Nullable(Float64) COMMENT 'Change of mid without a trade, by the regression, USDC per share',
    `r_squared` Nullable(Float64) COMMENT 'Part of the variance of the change that the size explains, 0 to 1; NULL when mid never changed'
)
AS
SELECT
    event,
    market,
    delay,
    trades,
    unquoted_trades,
    if(is_determined, line.1, NULL) AS impact_per_share,
    if(is_determined, sqrt(greatest(0, change_variance - line.1 * line.1 * size_variance) / (trades - 2) / size_variance), NULL) AS standard_error,
    if(is_determined, line.2, NULL) AS intercept,
    if(is_determined AND change_variance > 0, least(1, line.1 * line.1 * size_variance / change_variance), NULL) AS r_squared
FROM
(
    SELECT
        *,
        arrayReduce('varPop', sizes) AS size_variance,
        arrayReduce('varPop', changes) AS change_variance,
        trades >= 30 AND size_variance > 0 AS is_determined,
        arrayReduce('simpleLinearRegression', sizes, changes) AS line
    FROM
    (
        SELECT
            event,
            market,
            delay,
            countIf(change IS NOT NULL) AS trades,
            countIf(change IS NULL) AS unquoted_trades,
            -- In one order: the sum of doubles depends on it.
            arraySort(groupArrayIf((fill_id, size, assumeNotNull(change)), change IS NOT NULL)) AS points,
            arrayMap(point -> point.2, points) AS sizes,
            arrayMap(point -> point.3, points) AS changes
        FROM
        (
            SELECT
                if({level:String} = 'all', '', quotes.event) AS event,
                if({level:String} = 'market', quotes.market, '') AS market,
                fill_id,
                delay,
                direction * toFloat64(quantity) AS size,
                -- markout + slippage = direction × (later mid - mid)
                direction * (markout + slippage) AS change
            FROM {database}.trade_quotes(margin_ms = {margin_ms:UInt32}, scope = 'all') AS quotes
            ARRAY JOIN ['5 s', '1 min', '5 min'] AS delay, [markout_5s, markout_1m, markout_5m] AS markout
            WHERE NOT throwIf({level:String} NOT IN ('market', 'event', 'all'), 'level is market, event or all')
                AND ({level:String} != 'market' OR quotes.market != '') AND ({level:String} != 'event' OR quotes.event != '')
        )
        GROUP BY event, market, delay
    )
);
