-- What was the trading volume per market and day, of our accounts and of everybody?
--
-- Volume of a fill: quantity × the price of the asset that the taker traded. `own` counts a fill once, also when both of
-- its sides are ours: then it takes the taker's side, which is the one in the activity feed or, if neither is there, the
-- one that paid the fee. Of a fill with one own side only that side's price is known; if our side is the maker of a mint or
-- merge, its price differs from the taker's. `everybody` is the activity feed, one item per fill.
--
-- vwap = sum(quantity × YES price) / sum(quantity); the YES price of a NO asset is 1 - price. An asset that is not in the
-- view assets counts as YES. Sums are exact.
CREATE OR REPLACE VIEW {database}.volume_by_market_and_day
(
    `scope` String COMMENT 'own: trades of our accounts. everybody: the activity feed',
    `day` Nullable(Date) COMMENT 'Day of the exchange''s time, UTC; NULL where the trade does not say its time',
    `event` String COMMENT 'Event ID; empty when it is not known',
    `market` String COMMENT 'Market ID; empty when absent',
    `trades` UInt64 COMMENT 'Number of fills',
    `shares` Decimal(38, 12) COMMENT 'Shares that changed hands',
    `volume` Decimal(76, 24) COMMENT 'Sum of quantity × price of the asset of the taker, USDC',
    `yes_value` Decimal(76, 24) COMMENT 'Sum of quantity × price in YES terms, USDC: of a NO asset 1 less its price',
    `vwap` Float64 COMMENT 'Volume-weighted average price in YES terms: yes_value / shares'
)
AS
SELECT
    scope,
    toDate(executed_at) AS day,
    if(said_event != '', said_event, known_event) AS event,
    market,
    count() AS trades,
    sum(quantity) AS shares,
    sum(toDecimal256(quantity, 12) * toDecimal256(price, 12)) AS volume,
    sum(toDecimal256(quantity, 12) * toDecimal256(if(is_yes, price, 1 - price), 12)) AS yes_value,
    toFloat64(yes_value) / toFloat64(shares) AS vwap
FROM
(
    SELECT 'own' AS scope, toString(taken.1) AS said_event, toString(taken.2) AS market, taken.4 AS quantity, taken.5 AS price, taken.6 AS executed_at, outcome != 'NO' AS is_yes
    FROM
    (
        SELECT
            if(trade_id = '', trade_record_id, trade_id) AS fill,
            argMax((event, market, asset, quantity, price, executed_at), (trade_record_id GLOBAL IN (
                SELECT trade_record_id FROM {database}.activity_records
                WHERE trade_record_id GLOBAL IN (SELECT trade_record_id FROM {database}.trade_records)
            ), ifNull(fee, toDecimal128(0, 12)), trade_record_id)) AS taken
        FROM {database}.trades
        GROUP BY fill
    ) AS fills
    LEFT JOIN (SELECT asset, outcome FROM {database}.assets) AS known ON known.asset = fills.taken.3
    UNION ALL
    SELECT 'everybody' AS scope, '' AS said_event, toString(market) AS market, quantity, price, executed_at, ifNull(is_primary, if(position = '', token_name, position) != 'NO') AS is_yes
    FROM {database}.activity
) AS fills
LEFT JOIN (SELECT market, event AS known_event FROM {database}.markets) AS places USING (market)
GROUP BY scope, day, event, market;
