-- What did our accounts buy and sell of every asset, and what did the shares that they still hold cost?
--
-- By average cost, as the exchange counts it, in whole millionths of USDC, trade by trade in order:
--
--     BUY:   cost := cost + quantity × price
--     SELL:  cost := cost - round(cost × quantity ÷ held), half to even; held is the number of shares before the sale
--
-- Fees are not part of the cost. The rounding makes the order matter, so the trades are folded in order. Between two sales
-- only the sum of the purchases matters: one step of the fold is one sale and the purchases since the previous sale.
-- The value of a fill is rounded to whole millionths, half to even.
--
-- If the beginning of the history is missing, more shares may have been sold than are known to have been bought: then
-- oversold_shares is above 0 and the cost is meaningless. Payouts of resolved markets are in pnl_by_asset.
CREATE OR REPLACE VIEW {database}.holdings
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `event` LowCardinality(String) COMMENT 'Event ID; empty when absent',
    `market` LowCardinality(String) COMMENT 'Market ID; empty when absent',
    `asset` LowCardinality(String) COMMENT 'Asset ID',
    `trades` UInt64 COMMENT 'Number of trades',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last one, by the exchange',
    `bought_shares` Decimal(38, 12) COMMENT 'Shares bought',
    `bought_value` Decimal(38, 12) COMMENT 'What they cost without fees, USDC',
    `sold_shares` Decimal(38, 12) COMMENT 'Shares sold',
    `sold_value` Decimal(38, 12) COMMENT 'What they brought without fees, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `shares` Decimal(38, 12) COMMENT 'Shares bought less shares sold',
    `cost` Decimal(38, 12) COMMENT 'What the shares that are held cost by average cost, without fees, USDC',
    `oversold_shares` Decimal(38, 12) COMMENT 'Most shares that were sold beyond what was known to be held; 0 when the history is whole'
)
AS
WITH
    toDecimal128(0, 12) AS nothing,
    fills AS
    (
        SELECT
            account,
            asset,
            max(event) AS event,
            max(market) AS market,
            count() AS trades,
            max(executed_at) AS last_trade_at,
            sumIf(quantity, side = 'BUY') AS bought_shares,
            sumIf(quantity, side = 'SELL') AS sold_shares,
            sumIf(worth, side = 'BUY') AS bought_value,
            sumIf(worth, side = 'SELL') AS sold_value,
            sum(ifNull(fee, nothing)) AS fees,
            arraySort(fill -> fill.1, groupArray((
                sequence,
                if(side = 'SELL', quantity, nothing),
                if(side = 'SELL', -quantity, quantity),
                if(side = 'BUY', worth, nothing)
            ))) AS ordered
        FROM
        (
            SELECT
                account, asset, event, market, side, quantity, fee, executed_at, sequence,
                CAST(roundBankers(toDecimal256(quantity, 12) * toDecimal256(price, 12), 6), 'Decimal(38, 12)') AS worth
            FROM {database}.trades
            WHERE side IN ('BUY', 'SELL')
        )
        GROUP BY account, asset
    ),
    flows AS
    (
        SELECT
            * EXCEPT ordered,
            ordered.2 AS sold,
            arrayCumSum(ordered.3) AS held,
            arrayCumSum(ordered.4) AS paid
        FROM fills
    ),
    sales AS
    (
        SELECT
            * EXCEPT (sold, held, paid),
            greatest(-arrayMin(held), nothing) AS oversold_shares,
            arrayFilter(sold -> sold > 0, sold) AS quantities,
            arrayMap((held, sold) -> greatest(toInt128((held + sold) * 1000000000000), toInt128(1)), arrayFilter((held, sold) -> sold > 0, held, sold), quantities) AS held_before,
            arrayMap((sold, held) -> least(toInt128(sold * 1000000000000), held), quantities, held_before) AS leaving,
            arrayMap(paid -> toInt128(paid * 1000000), arrayFilter((paid, sold) -> sold > 0, paid, sold)) AS paid_before,
            arrayMap((paid, before) -> paid - before, paid_before, arrayPopBack(arrayPushFront(paid_before, toInt128(0)))) AS added,
            toInt128(bought_value * 1000000) - if(empty(paid_before), 0, paid_before[-1]) AS added_last
        FROM flows
        -- One block: the fold takes as long for one asset as for all of a block.
        ORDER BY account, asset
        LIMIT 1000000000
    )
SELECT
    account,
    event,
    market,
    asset,
    trades,
    last_trade_at,
    bought_shares,
    bought_value,
    sold_shares,
    sold_value,
    fees,
    bought_shares - sold_shares AS shares,
    toDecimal128(toString(added_last + arrayFold(
        -- x is cost × leaving ÷ held; intDiv(2·cost·leaving + held, 2·held) is x rounded half up, and one too much where
        -- x lies in the middle and that is odd.
        (cost, leaving, held, added) ->
            cost + added
            - intDiv(2 * (cost + added) * leaving + held, 2 * held)
            + (
                2 * (cost + added) * leaving + held = 2 * held * intDiv(2 * (cost + added) * leaving + held, 2 * held)
                AND intDiv(2 * (cost + added) * leaving + held, 2 * held) % 2 = 1
            ),
        leaving, held_before, added, toInt128(0)
    )), 12) / 1000000 AS cost,
    oversold_shares
FROM sales;
