-- What is the profit or loss of every account, at one level: per market, per event or in all?
--
--   SELECT * FROM pnl_sums(level = 'event', price = 'bid') WHERE account = '...'
--
-- The sums over pnl_by_asset_at, which says what `price` may be. pnl_by_account, pnl_by_event and pnl_by_market are these sums at
-- the chance, over pnl_by_asset. If the price of one held asset is unknown, the sums that depend on it are NULL. yes_shares, no_shares and pairs have a
-- meaning at the level market only.
CREATE OR REPLACE VIEW {database}.pnl_sums
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when unknown, and at the level account',
    `market` String COMMENT 'Market ID; empty when unknown, and at the levels account and event',
    `assets` UInt64 COMMENT 'Number of assets that were traded',
    `open_assets` UInt64 COMMENT 'Number of assets that are held',
    `inferred` UInt64 COMMENT 'Number of assets whose settlement is inferred',
    `unexplained` UInt64 COMMENT 'Number of assets that are is_unexplained in pnl_by_asset',
    `yes_shares` Decimal(38, 12) COMMENT 'Held YES shares',
    `no_shares` Decimal(38, 12) COMMENT 'Held NO shares',
    `pairs` Decimal(38, 12) COMMENT 'Held pairs of a YES and a NO share: a pair is worth 1 USDC',
    `trades` UInt64 COMMENT 'Number of trades',
    `bought_value` Decimal(38, 12) COMMENT 'Cost of the purchases without fees, USDC',
    `sold_value` Decimal(38, 12) COMMENT 'Proceeds of the sales without fees, USDC',
    `payout` Decimal(38, 12) COMMENT 'Payouts of resolved markets, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (average cost method), USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (first in, first out), USDC',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Value of the held shares at the price, USDC; NULL when a price is unknown',
    `realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss by average cost, without fees, USDC',
    `unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - cost, USDC; NULL when a price is unknown',
    `fifo_realised_pnl` Decimal(38, 12) COMMENT 'Realised profit or loss, first in, first out, without fees, USDC',
    `fifo_unrealised_pnl` Nullable(Decimal(38, 12)) COMMENT 'value - fifo_cost, USDC; NULL when a price is unknown',
    `cash_flow` Decimal(38, 12) COMMENT 'sold_value - bought_value + payout, USDC: what is realised by cash flow',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'realised_pnl + unrealised_pnl - fees, USDC; NULL when a price is unknown',
    `computed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Earliest time at which a worker computed the sums and costs of one of the assets; NULL when this query computed all of them from the trades',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock (account_completeness); NULL before the first complete walks'
)
AS
SELECT
    account,
    event_key AS event,
    market_key AS market,
{pnl_sums}
FROM
(
    SELECT
        *,
        if({level:String} = 'account', '', valued.event) AS event_key,
        if({level:String} IN ('account', 'event'), '', valued.market) AS market_key
    FROM {database}.pnl_by_asset_at(price = {price:String}) AS valued
    WHERE NOT throwIf({level:String} NOT IN ('account', 'event', 'market'), 'level is account, event or market')
) AS assets
GROUP BY account, event_key, market_key;
