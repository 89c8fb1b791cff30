-- How far from the quotes was every trade made, and how did the price move afterwards?
--
--   SELECT * FROM trade_quotes(margin_ms = 250, scope = 'all') WHERE market = '...' ORDER BY executed_at
--
-- One row per fill of the scope (all or own) in fills with a YES price and a time. A time of the exchange is compared with times of our clock: the quote of a trade
-- is the last tick received at least margin_ms before its execution. A smaller margin finds newer quotes, and sometimes one that the
-- trade itself changed. The side of a fill is taken as that of the taker: for the activity feed this is an assumption, as the interface
-- does not say it; for own it is our side, also where we were the maker (fill_slippage has each side of our fills). In YES terms the
-- direction is +1 where YES was bought or NO sold, and -1 where YES was sold or NO bought.
--   effective_spread = 2 × |yes_price - mid|;  slippage = direction × (yes_price - mid)
--   markout after t  = direction × (mid at executed_at + t - yes_price): what the taker would have gained per share by then
-- mid = (bid + ask) / 2 of the quote: NULL where a side is empty or the book is crossed. All are also NULL where the order book of the
-- event was not observed from the time of receipt of the quote to the moment for which it stands: coverage of that moment is below 1.
-- Filters on event and market are pushed down to the trades and to the ticks. Others are not: filter by market or by event.
CREATE OR REPLACE VIEW {database}.trade_quotes
(
    `scope` String COMMENT 'own: trades of our accounts. all: the activity feed, of all users',
    `fill_id` String COMMENT 'ID of the fill, as in fills',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID',
    `executed_at` DateTime64(6, 'UTC') COMMENT 'When it was executed, by the exchange',
    `direction` Float64 COMMENT 'Direction in YES terms, of the taker (own: of our side), -1 to 1: 1 is YES bought or NO sold, -1 is YES sold or NO bought',
    `quantity` Decimal(38, 12) COMMENT 'Shares',
    `yes_price` Float64 COMMENT 'USDC per share in YES terms',
    `mid` Nullable(Float64) COMMENT 'Mid of bid and ask of the quote, in YES terms; NULL when there is none or it is not observed',
    `quote_age_seconds` Nullable(Float64) COMMENT 'executed_at - time of receipt of the quote, seconds; NULL without a quote',
    `effective_spread` Nullable(Float64) COMMENT '2 × |yes_price - mid|, USDC per share',
    `slippage` Nullable(Float64) COMMENT 'What the taker (own: our side) paid beyond mid, USDC per share',
    `markout_5s` Nullable(Float64) COMMENT 'Gain of the taker (own: of our side) at mid 5 s later, USDC per share',
    `markout_1m` Nullable(Float64) COMMENT 'Gain of the taker (own: of our side) at mid 1 min later, USDC per share',
    `markout_5m` Nullable(Float64) COMMENT 'Gain of the taker (own: of our side) at mid 5 min later, USDC per share'
)
AS
SELECT
    scope,
    fill_id,
    event,
    market,
    executed_at,
    direction,
    quantity,
    yes_price,
    mids[1] AS mid,
    quote_age_seconds,
    2 * abs(yes_price - mids[1]) AS effective_spread,
    direction * (yes_price - mids[1]) AS slippage,
    direction * (mids[2] - yes_price) AS markout_5s,
    direction * (mids[3] - yes_price) AS markout_1m,
    direction * (mids[4] - yes_price) AS markout_5m
FROM
(
    SELECT
        CAST({scope:String}, 'String') AS scope,
        tupleElement(executed, 'fill_id') AS fill_id,
        trade_event AS event,
        trade_market AS market,
        tupleElement(executed, 'executed_at') AS executed_at,
        any(tupleElement(executed, 'direction')) AS direction,
        any(tupleElement(executed, 'quantity')) AS quantity,
        any(tupleElement(executed, 'yes_price')) AS yes_price,
        anyIf(age_seconds, tupleElement(executed, 'step') = 1) AS quote_age_seconds,
        arrayMap(one -> one.2.1, arraySort(groupArray((tupleElement(executed, 'step'), tuple(if(is_observed, quote_mid, NULL)))))) AS mids
    FROM
    (
        SELECT
            trade_event,
            trade_market,
            trades[1] AS executed,
            if(quoted_at = 0, NULL, quote_mid) AS quote_mid,
            if(quoted_at = 0, NULL, dateDiff('microsecond', quoted_at, tupleElement(executed, 'executed_at')) / 1e6) AS age_seconds,
            -- Ranges do not overlap: if the last one that began by the moment has not both, none has.
            quoted_at != 0 AND observed.begins_at <= quoted_at AND observed.ends_at >= moment AS is_observed
        FROM
        (
            -- Not an ASOF join, through which a filter reaches only the trades. Through the window it reaches trades and ticks. Its rows
            -- are sorted, and most are ticks: they have as few bytes as possible.
            SELECT
                window_event AS trade_event,
                window_market AS trade_market,
                trades,
                moment,
                anyLastIf(moment, empty(trades)) OVER earlier AS quoted_at,
                nullIf(anyLastIf(tick_mid, empty(trades)) OVER earlier, -1) AS quote_mid
            FROM
            (
                SELECT
                    fills.event AS window_event,
                    fills.market AS window_market,
                    -- One trade, and none of a tick.
                    [CAST(
                        (
                            fill_id,
                            assumeNotNull(fills.executed_at),
                            if((outcome = 'YES') = (side = 'BUY'), 1., -1.),
                            fills.quantity,
                            toFloat64(assumeNotNull(fills.yes_price)),
                            step
                        ),
                        'Tuple(fill_id String, executed_at DateTime64(6, \'UTC\'), direction Float64, quantity Decimal(38, 12), yes_price Float64, step UInt8)'
                    )] AS trades,
                    assumeNotNull(fills.executed_at) + toIntervalMillisecond(delay) AS moment,
                    0. AS tick_mid,
                    -- After every tick of the moment.
                    18446744073709551615 AS position
                FROM {database}.fills
                ARRAY JOIN [1, 2, 3, 4] AS step, [-toInt64({margin_ms:UInt32}), 5000, 60000, 300000] AS delay
                WHERE fills.scope = {scope:String} AND fills.yes_price IS NOT NULL AND fills.executed_at IS NOT NULL AND side IN ('BUY', 'SELL')
                UNION ALL
                SELECT
                    CAST(event, 'String') AS window_event,
                    CAST(market, 'String') AS window_market,
                    CAST([], 'Array(Tuple(fill_id String, executed_at DateTime64(6, \'UTC\'), direction Float64, quantity Decimal(38, 12), yes_price Float64, step UInt8))') AS trades,
                    received_at AS moment,
                    if(is_resolution OR NOT ifNull(bid <= ask, false), -1., toFloat64(assumeNotNull((bid + ask) / 2))) AS tick_mid,
                    bitShiftLeft(`_offset`, 24) + `_index` AS position
                FROM {database}.price_ticks
                WHERE NOT repeated
            )
            WINDOW earlier AS (
                PARTITION BY window_event, window_market ORDER BY moment, position
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            )
        ) AS quoted
        ASOF LEFT JOIN
        (
            SELECT event AS observed_event, begins_at, ends_at FROM {database}.observed_ranges WHERE stream = 'order-book'
        ) AS observed ON quoted.trade_event = observed.observed_event AND quoted.moment >= observed.begins_at
        WHERE NOT throwIf({scope:String} NOT IN ('own', 'all'), 'scope is own or all') AND notEmpty(trades)
    )
    GROUP BY fill_id, event, market, executed_at
);
