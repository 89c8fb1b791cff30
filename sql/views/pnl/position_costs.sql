-- What did the shares cost that every account held at the end of each period?
--
--   SELECT * FROM position_costs(period_seconds = 86400) WHERE account = '...' ORDER BY asset, begins_at
--
-- One row per account, asset and period in which the account traded the asset: its sums and costs from the first trade up to the
-- end of the period. Periods are in exchange time (a trade without a time counts at its receive time) and aligned to the Unix epoch;
-- period_seconds = 2592000 stands for calendar months in UTC, and 0 for one period with all trades.
--
-- Two cost bases, both without fees. The value of a fill is quantity × price, rounded half to even to a millionth of USDC.
--   cost       average cost method, as the exchange counts it, in whole millionths, trade by trade in order:
--                BUY:  cost := cost + value
--                SELL: cost := cost - round(cost × quantity ÷ held), half to even; held is the number of shares before the sale
--   fifo_cost  first in, first out: the shares that were bought first are sold first, so the cost of the held shares is
--              the value of all purchases less that of the first sold_shares shares; the value of a part of a purchase is part × price,
--              rounded half to even to a millionth
-- The rounding makes the order matter, so the trades are folded in order. Between two sales only the sum of the purchases
-- matters: one step of the fold is one sale, or the end of a period, and the purchases since the step before it.
--
-- If the beginning of the history is missing, more shares may have been sold than are known to have been bought: then
-- oversold_shares is above 0 and the costs are meaningless. Up to which time the trades of an account are complete is in
-- account_completeness.
CREATE OR REPLACE VIEW {database}.position_costs
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when absent',
    `market` String COMMENT 'Market ID; empty when absent',
    `asset` String COMMENT 'Asset ID',
    `begins_at` DateTime64(6, 'UTC') COMMENT 'Start of the period; 1970 when period_seconds is 0',
    `trades` UInt64 COMMENT 'Number of trades up to the end of the period',
    `last_trade_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last one, by the exchange; NULL when absent',
    `bought_shares` Decimal(38, 12) COMMENT 'Shares bought',
    `bought_value` Decimal(38, 12) COMMENT 'Cost of the purchases without fees, USDC',
    `sold_shares` Decimal(38, 12) COMMENT 'Shares sold',
    `sold_value` Decimal(38, 12) COMMENT 'Proceeds of the sales without fees, USDC',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (average cost method), USDC',
    `fifo_cost` Decimal(38, 12) COMMENT 'Cost basis of the held shares (first in, first out), USDC',
    `oversold_shares` Decimal(38, 12) COMMENT 'Maximum of the shares sold beyond the known holding; 0 when the history is complete'
)
AS
WITH
{period_functions},
    (period_time -> if({period_seconds:UInt32} = 0, toDateTime64(0, 6, 'UTC'), period_start(period_time))) AS period_of
SELECT
    account,
    event,
    market,
    asset,
    period AS begins_at,
    step.2 AS trades,
    step.3 AS last_trade_at,
    step.4 AS bought_shares,
    step.5 AS bought_value,
    step.6 AS sold_shares,
    step.7 AS sold_value,
    step.8 AS fees,
    step.9 AS cost,
    step.10 AS fifo_cost,
    step.11 AS oversold_shares
FROM
(
    SELECT
        *,
{period_steps}
    FROM
    (
        SELECT account, event, market, asset, days AS steps FROM {database}.position_days WHERE {period_seconds:UInt32} % 86400 = 0
        UNION ALL
        SELECT account, event, market, asset, steps FROM {database}.trade_costs WHERE {period_seconds:UInt32} % 86400 != 0
    )
)
ARRAY JOIN periods AS period, last_steps AS step;
