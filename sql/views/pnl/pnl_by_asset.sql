-- What is the profit or loss of every account per asset?
--
-- Of a market that is open, by three methods (position_costs has the cost, without fees):
--
--     value               = shares × price; the price of YES is the chance, of NO 1 - chance; no shares are worth 0 at any price
--     average cost:         realised_pnl = sold_value - (bought_value - cost); unrealised_pnl = value - cost
--     first in, first out:  the same with fifo_cost: fifo_realised_pnl, fifo_unrealised_pnl
--     cash flow:            cash_flow = sold_value - bought_value is realised; value is unrealised
--     pnl                 = realised + unrealised - fees, the same by each method
--
-- A resolved market pays the settlement price of resolutions for each share: 1 USDC for the asset that won, nothing for the
-- other, a refund where the market is void. No shares are held afterwards, and the methods agree: realised_pnl,
-- fifo_realised_pnl and cash_flow are sold_value - bought_value + payout.
-- `settlement` is the basis: `payout`, the account has a PAYOUT transaction of the asset; `inferred`, it has none (transactions
-- need a JWT), but the settlement price is known; `open`, neither.
--
-- The sums always include every stored trade, whenever it was executed. computed_at is the time at which a worker stored them; it is NULL
-- while this query computes them from the trades, as after a later trade.
--
-- payout_difference is the PAYOUT less the expected payout of the recorded shares: if it is not 0, trades are missing.
-- If oversold_shares is not 0, the beginning of the history is missing, or trades after complete_to were not read yet.
CREATE OR REPLACE VIEW {database}.pnl_by_asset
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
    `price` Nullable(Decimal(38, 12)) COMMENT 'Price of the asset, USDC per share: its settlement price, or at the chance while the market is unresolved',
    `trades` UInt64 COMMENT 'Number of trades',
    `bought_value` Decimal(38, 12) COMMENT 'Cost of the purchases without fees, USDC',
    `sold_value` Decimal(38, 12) COMMENT 'Proceeds of the sales without fees, USDC',
    `payout` Decimal(38, 12) COMMENT 'Payouts of resolved markets, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (average cost method), USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (first in, first out), USDC',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Value of the held shares at the chance, USDC; NULL when a chance is unknown',
    `realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss by average cost, without fees, USDC',
    `unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - cost, USDC; NULL when a chance is unknown',
    `fifo_realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss, first in, first out, without fees, USDC',
    `fifo_unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - fifo_cost, USDC; NULL when a chance is unknown',
    `cash_flow` Decimal(38, 12) COMMENT 'sold_value - bought_value + payout, USDC: what is realised by cash flow',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'realised_pnl + unrealised_pnl - fees, USDC; NULL when a chance is unknown',
    `payout_difference` Nullable(Decimal(38, 12)) COMMENT 'payout: the payout less the expected payout of the known shares; NULL when the market is void, or complete_to is before the payout',
    `oversold_shares` Decimal(38, 12) COMMENT 'Maximum of the shares sold beyond the known holding',
    `is_unexplained` Bool COMMENT 'Whether there is a payout_difference, or oversold_shares and no trade since complete_to',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last trade, by the exchange',
    `computed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a worker computed the sums and costs of the trades; NULL when this query computed them from the trades, as after a later trade',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock (account_completeness); NULL before the first complete walks'
)
AS
WITH
    toDecimal128(0, 12) AS nothing,
    -- A constant: ClickHouse plans a query that has the view in a join many times slower.
    (SELECT groupArray((account, complete_to)) FROM {database}.account_completeness) AS completeness,
    valued AS
    (
        SELECT
            * EXCEPT (days, last_day),
            last_day.2 AS trades,
            last_day.3 AS last_trade_at,
            last_day.5 AS bought_value,
            last_day.7 AS sold_value,
            last_day.8 AS fees,
            last_day.11 AS oversold_shares,
            if(settlement = 'open', held_shares, nothing) AS shares,
            if(settlement = 'open', last_day.9, nothing) AS cost,
            if(settlement = 'open', last_day.10, nothing) AS fifo_cost,
            if(settlement = 'open' AND held_shares != 0, held_value, nothing) AS value
        FROM (SELECT *, days[-1] AS last_day FROM {database}.settled_positions)
    ),
    explained AS
    (
        SELECT
            *,
            arrayFirst(one -> one.1 = account, completeness).2 AS complete_to,
            sold_value - bought_value + payout AS cash_flow,
            cash_flow + cost AS realised_pnl,
            value - cost AS unrealised_pnl,
            cash_flow + fifo_cost AS fifo_realised_pnl,
            value - fifo_cost AS fifo_unrealised_pnl,
            if(settlement = 'payout' AND resolution IN ('yes', 'no') AND ifNull(complete_to >= paid_at, complete_to IS NOT NULL), amount - held_value, NULL) AS payout_difference
        FROM valued
    )
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
    price,
    trades,
    bought_value,
    sold_value,
    payout,
    fees,
    cost,
    fifo_cost,
    value,
    realised_pnl,
    unrealised_pnl,
    fifo_realised_pnl,
    fifo_unrealised_pnl,
    cash_flow,
    realised_pnl + unrealised_pnl - fees AS pnl,
    payout_difference,
    oversold_shares,
    toBool(ifNull(payout_difference, 0) != 0 OR (oversold_shares != 0 AND ifNull(last_trade_at < complete_to, complete_to IS NOT NULL))) AS is_unexplained,
    last_trade_at,
    computed_at,
    complete_to
FROM explained;
