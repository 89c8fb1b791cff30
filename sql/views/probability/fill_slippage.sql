-- How far from the mid were the trades of our accounts filled?
--
--   SELECT account, sum(slippage_value) FROM fill_slippage(margin_ms = 250) GROUP BY account
--
-- One row per side of a fill that is ours, as in trades, with a time, a side, and an asset whose outcome is known. The quote is that of
-- trade_quotes: the last tick received at least margin_ms before the execution, NULL where it was not observed, is one-sided or crossed.
--   mid            = mid of the quote, of a NO asset 1 - mid
--   slippage       = price - mid of a purchase, mid - price of a sale; fees are not in it
--   slippage_value = quantity × slippage
-- Positive is a cost: a taker pays about half the spread. Negative is a gain: of a resting order that was filled, or where the price
-- moved within the margin. Of a fill between two of our accounts the two rows add up to 0.
CREATE OR REPLACE VIEW {database}.fill_slippage
(
    `account` String COMMENT 'Configured name of the account',
    `trade_record_id` String COMMENT 'ID of this side of the fill',
    `order_id` String COMMENT 'Order ID; empty when absent',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID',
    `asset` String COMMENT 'ID of the asset that this side traded',
    `outcome` String COMMENT 'YES or NO: which asset this side traded',
    `side` String COMMENT 'BUY or SELL',
    `quantity` Decimal(38, 12) COMMENT 'Shares',
    `price` Decimal(38, 12) COMMENT 'USDC per share of the asset of this side',
    `fee` Nullable(Decimal(38, 12)) COMMENT 'Fee that this side paid, USDC',
    `executed_at` DateTime64(6, 'UTC') COMMENT 'When it was executed, by the exchange',
    `mid` Nullable(Float64) COMMENT 'Mid of bid and ask of the quote, of the asset of this side, USDC per share; NULL when there is none or it is not observed',
    `quote_age_seconds` Nullable(Float64) COMMENT 'executed_at - time of receipt of the quote, seconds; NULL without a quote',
    `slippage` Nullable(Float64) COMMENT 'What this side paid beyond mid, or received less than it, USDC per share; negative is a gain',
    `slippage_value` Nullable(Float64) COMMENT 'quantity × slippage, USDC'
)
AS
SELECT
    account,
    trade_record_id,
    order_id,
    if(recorded_event != '', recorded_event, quote_event) AS event,
    own_market AS market,
    own_asset AS asset,
    outcome,
    side,
    own_quantity AS quantity,
    price,
    fee,
    own_executed_at AS executed_at,
    if(outcome = 'NO', 1 - yes_mid, yes_mid) AS mid,
    age_seconds AS quote_age_seconds,
    if(side = 'BUY', 1, -1) * (toFloat64(price) - mid) AS slippage,
    toFloat64(own_quantity) * slippage AS slippage_value
FROM
(
    SELECT
        account,
        trade_record_id,
        if(trade_id = '', trade_record_id, trade_id) AS own_fill_id,
        order_id,
        event AS recorded_event,
        market AS own_market,
        asset AS own_asset,
        side,
        quantity AS own_quantity,
        price,
        fee,
        assumeNotNull(executed_at) AS own_executed_at
    FROM {database}.trades
    WHERE executed_at IS NOT NULL AND side IN ('BUY', 'SELL')
) AS sides
INNER JOIN (SELECT asset AS known_asset, outcome FROM {database}.assets) AS known ON sides.own_asset = known.known_asset
INNER JOIN
(
    SELECT fill_id, market AS quote_market, event AS quote_event, mid AS yes_mid, quote_age_seconds AS age_seconds
    FROM {database}.trade_quotes(margin_ms = {margin_ms:UInt32}, scope = 'own')
) AS quotes ON sides.own_fill_id = quotes.fill_id AND sides.own_market = quotes.quote_market;
