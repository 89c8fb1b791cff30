-- What is the profit or loss of every account per asset, with the held shares valued at another price?
--
--   SELECT * FROM pnl_by_asset_at(price = 'bid') WHERE account = '...'
--
-- The rows of pnl_by_asset, which has the formulas. `price` says how held shares of an unresolved market are valued, by the
-- latest tick of the market (latest_prices):
--   chance  as in pnl_by_asset
--   mid     (bid + ask) / 2, of NO 1 - mid; NULL where a side of the book is empty, or it is crossed
--   bid     what the shares could be sold for: of YES the bid, of NO 1 - ask; NULL where that side is empty
-- Columns that depend on the price follow it: price, value, unrealised_pnl, fifo_unrealised_pnl and pnl.
CREATE OR REPLACE VIEW {database}.pnl_by_asset_at
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when unknown',
    `asset` String COMMENT 'Asset ID',
    `outcome` String COMMENT 'YES or NO; empty when unknown',
    `settlement` String COMMENT 'open, payout or inferred',
    `settled_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'payout: when it was made, by the exchange. inferred: when the final chance was received; NULL when another account''s payout is the basis',
    `shares` Decimal(38, 12) COMMENT 'Held shares',
    `chance` Nullable(Float64) COMMENT 'Probability of YES, 0 to 1',
    `price` Nullable(Decimal(38, 12)) COMMENT 'Price of the asset, USDC per share: its settlement price, or while the market is unresolved the one asked for; NULL when unknown',
    `trades` UInt64 COMMENT 'Number of trades',
    `bought_value` Decimal(38, 12) COMMENT 'Cost of the purchases without fees, USDC',
    `sold_value` Decimal(38, 12) COMMENT 'Proceeds of the sales without fees, USDC',
    `payout` Decimal(38, 12) COMMENT 'Payouts of resolved markets, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (average cost method), USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (first in, first out), USDC',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Value of the held shares at the price, USDC; NULL when it is unknown',
    `realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss by average cost, without fees, USDC',
    `unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - cost, USDC; NULL when the price is unknown',
    `fifo_realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss, first in, first out, without fees, USDC',
    `fifo_unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - fifo_cost, USDC; NULL when the price is unknown',
    `cash_flow` Decimal(38, 12) COMMENT 'sold_value - bought_value + payout, USDC: what is realised by cash flow',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'realised_pnl + unrealised_pnl - fees, USDC; NULL when the price is unknown',
    `payout_difference` Nullable(Decimal(38, 12)) COMMENT 'payout: the payout less the expected payout of the known shares; NULL when the market is void, or complete_to is before the payout',
    `oversold_shares` Decimal(38, 12) COMMENT 'Maximum of the shares sold beyond the known holding',
    `is_unexplained` Bool COMMENT 'Whether there is a payout_difference, or oversold_shares and no trade since complete_to',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last trade, by the exchange',
    `computed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a worker computed the sums and costs of the trades; NULL when this query computed them from the trades, as after a later trade',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock (account_completeness); NULL before the first complete walks'
)
AS
SELECT
    account,
    event,
    market,
    asset,
    outcome,
    settlement,
    settled_at,
    shares,
    chance,
    asset_price AS price,
    trades,
    bought_value,
    sold_value,
    payout,
    fees,
    cost,
    fifo_cost,
    held_value AS value,
    realised_pnl,
    held_value - cost AS unrealised_pnl,
    fifo_realised_pnl,
    held_value - fifo_cost AS fifo_unrealised_pnl,
    cash_flow,
    realised_pnl + held_value - cost - fees AS pnl,
    payout_difference,
    oversold_shares,
    is_unexplained,
    last_trade_at,
    computed_at,
    complete_to
FROM
(
    SELECT
        *,
        multiIf(
            shares = 0, toDecimal128(0, 12),
            {price:String} = 'chance', at_chance,
            CAST(toDecimal256(shares, 12) * toDecimal256(asset_price, 12), 'Nullable(Decimal(38, 12))')
        ) AS held_value
    FROM
    (
        SELECT
            *,
            multiIf(
                {price:String} = 'chance' OR settlement != 'open', chance_price,
                outcome = '', NULL,
                {price:String} = 'mid', if(bid <= ask, if(outcome = 'NO', 1 - (bid + ask) / 2, (bid + ask) / 2), NULL),
                outcome = 'NO', 1 - ask,
                bid
            ) AS asset_price
        FROM
        (
            SELECT
                * EXCEPT (price, value, unrealised_pnl, fifo_unrealised_pnl, pnl),
                pnl_by_asset.price AS chance_price,
                pnl_by_asset.value AS at_chance
            FROM {database}.pnl_by_asset
            WHERE NOT throwIf({price:String} NOT IN ('chance', 'mid', 'bid'), 'price is chance, mid or bid')
        ) AS assets
        LEFT JOIN
        (
            SELECT market, toDecimal128OrNull(toString(latest_ticks.bid), 12) AS bid, toDecimal128OrNull(toString(latest_ticks.ask), 12) AS ask
            FROM {database}.latest_ticks
            WHERE {price:String} != 'chance'
        ) AS books USING (market)
    )
);
