-- What did the shares of every account cost after each trade?
--
-- One row per account and asset that it traded, computed from its trades: position_costs, which has the formulas, with a period for every
-- time of a trade, as one array. For periods shorter than a day; those of whole days follow from position_days.
CREATE OR REPLACE VIEW {database}.trade_costs
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when absent',
    `market` String COMMENT 'Market ID; empty when absent',
    `asset` String COMMENT 'Asset ID',
    `steps` Array(Tuple(executed_at DateTime64(6, 'UTC'), trades UInt64, last_trade_at Nullable(DateTime64(6, 'UTC')), bought_shares Decimal(38, 12), bought_value Decimal(38, 12), sold_shares Decimal(38, 12), sold_value Decimal(38, 12), fees Decimal(38, 12), cost Decimal(38, 12), fifo_cost Decimal(38, 12), oversold_shares Decimal(38, 12))) COMMENT 'Shares, and sums and costs in USDC, after the trades of each time, in order; a trade without a time counts at its receive time'
)
AS
WITH
    (period_time -> period_time) AS period_of,
    chosen_trades AS (SELECT * FROM {database}.trade_records FINAL WHERE side IN ('BUY', 'SELL'))
SELECT toString(account) AS account, toString(event) AS event, toString(market) AS market, toString(asset) AS asset, steps
FROM
(
{period_costs}
);
