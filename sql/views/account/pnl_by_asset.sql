-- What is the profit or loss of every account per asset?
--
-- Of a market that is open (holdings has the cost, by average cost without fees):
--
--     realised_pnl   = sold_value - (bought_value - cost)
--     value          = shares × price; the price of YES is the chance, of NO 1 - chance
--     unrealised_pnl = value - cost
--     pnl            = realised_pnl + unrealised_pnl - fees
--
-- A resolved market pays 1 USDC per share of the winning asset and nothing for the other; no shares are held afterwards:
-- realised_pnl = sold_value - bought_value + payout. `settlement` is the basis: `payout`, the account has a PAYOUT
-- transaction of the asset; `inferred`, it has none (transactions need a JWT), but the last chance of the market is exactly
-- 0 or 1; `open`, neither.
--
-- payout_difference is the PAYOUT less what the recorded shares should have been paid: other than 0, trades are missing.
-- If oversold_shares is not 0, the beginning of the history is missing.
CREATE OR REPLACE VIEW {database}.pnl_by_asset
(
    `account` LowCardinality(String) COMMENT 'Configured name of the account',
    `event` LowCardinality(String) COMMENT 'Event ID; empty when it is not known',
    `market` LowCardinality(String) COMMENT 'Market ID; empty when it is not known',
    `asset` LowCardinality(String) COMMENT 'Asset ID',
    `outcome` String COMMENT 'YES or NO; empty when it is not known',
    `settlement` String COMMENT 'open, payout or inferred',
    `settled_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'payout: when it was made, by the exchange. inferred: when the last chance was received',
    `shares` Decimal(38, 12) COMMENT 'Shares that are held',
    `chance` Nullable(Float64) COMMENT 'Probability of YES, 0 to 1',
    `price` Nullable(Decimal(38, 12)) COMMENT 'Price of the asset at the chance',
    `trades` UInt64 COMMENT 'Number of trades',
    `bought_value` Decimal(38, 12) COMMENT 'What was bought cost without fees, USDC',
    `sold_value` Decimal(38, 12) COMMENT 'What was sold brought without fees, USDC',
    `payout` Decimal(38, 12) COMMENT 'What resolved markets paid, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `cost` Decimal(38, 12) COMMENT 'Cost of what is held, USDC',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Worth of what is held at the chance, USDC; NULL when a chance is not known',
    `realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss without fees, USDC',
    `unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - cost; NULL when a chance is not known',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'realised_pnl + unrealised_pnl - fees; NULL when a chance is not known',
    `payout_difference` Nullable(Decimal(38, 12)) COMMENT 'payout: what was paid less what the known shares should have been paid; NULL where the last chance is not known',
    `oversold_shares` Decimal(38, 12) COMMENT 'Most shares that were sold beyond what was known to be held',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last trade, by the exchange'
)
AS
WITH
    toDecimal128(0, 12) AS nothing,
    paid AS
    (
        SELECT account, asset, 1 AS is_paid, sum(amount) AS amount, max(created_at) AS paid_at
        FROM {database}.transactions
        WHERE type = 'PAYOUT' AND status NOT IN ('FAILED', 'CANCELLED', 'CANCELED', 'REJECTED')
        GROUP BY account, asset
    ),
    placed AS
    (
        SELECT
            account,
            asset,
            if(held.event = '', known.event, held.event) AS event,
            if(held.market = '', known.market, held.market) AS market,
            outcome,
            trades, last_trade_at, bought_value, sold_value, fees, oversold_shares,
            held.shares AS held_shares,
            held.cost AS held_cost,
            is_paid, amount, paid_at
        FROM (SELECT * FROM {database}.holdings) AS held
        FULL JOIN paid USING (account, asset)
        LEFT JOIN (SELECT asset, event, market, outcome FROM {database}.assets) AS known USING (asset)
    ),
    priced AS
    (
        SELECT
            *,
            if(outcome = '', NULL, toDecimal128OrNull(toString(chances.chance), 12)) AS yes_price,
            if(outcome = 'NO', 1 - yes_price, yes_price) AS price,
            multiIf(is_paid = 1, 'payout', decided AND outcome != '', 'inferred', 'open') AS settlement
        FROM placed
        LEFT JOIN (SELECT market, chance, decided, known_at FROM {database}.market_chances) AS chances USING (market)
    )
SELECT
    account,
    event,
    market,
    asset,
    outcome,
    settlement,
    multiIf(settlement = 'payout', paid_at, settlement = 'inferred', known_at, NULL) AS settled_at,
    if(settlement = 'open', held_shares, nothing) AS shares,
    chance,
    price,
    trades,
    bought_value,
    sold_value,
    multiIf(settlement = 'payout', amount, settlement = 'inferred', assumeNotNull(multiplyDecimal(held_shares, price, 12)), nothing) AS payout,
    fees,
    if(settlement = 'open', held_cost, nothing) AS cost,
    if(settlement = 'open', multiplyDecimal(held_shares, price, 12), nothing) AS value,
    sold_value - bought_value + if(settlement = 'open', held_cost, payout) AS realised_pnl,
    value - cost AS unrealised_pnl,
    realised_pnl + unrealised_pnl - fees AS pnl,
    if(settlement = 'payout' AND decided, amount - multiplyDecimal(held_shares, price, 12), NULL) AS payout_difference,
    oversold_shares,
    last_trade_at
FROM priced;
