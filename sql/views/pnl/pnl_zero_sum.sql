-- Do the profits and losses of our accounts, without fees, add up to 0 in every market?
--
--   SELECT * FROM pnl_zero_sum(price = 'chance') WHERE one_sided_fills = 0 AND difference != 0
--
-- One row per market that our accounts traded. What one account gains another one loses, except for fees: over a closed set of accounts,
--   difference = sum of pnl + sum of fees = sum of cash_flow + value of all held shares
-- is 0 to the last digit. The set is closed in a market if both sides of each of its fills are ours: one_sided_fills is 0. pnl is that
-- of pnl_by_asset, with the held shares of an unresolved market valued at the present `price`:
--   chance  as in pnl_by_asset: a YES and a NO share are worth 1 USDC together, so the difference is 0
--   mid     (bid + ask) / 2, of NO 1 - mid: 0 as well; NULL where a side of the book is empty, or it is crossed
--   bid     of YES the bid, of NO 1 - ask: the difference is -(ask - bid) per share of each outcome, what selling all would cost
-- Of a void market the refunds are counted as paid. After complete_to, trades of some accounts may be missing.
CREATE OR REPLACE VIEW {database}.pnl_zero_sum
(
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when unknown',
    `accounts` UInt64 COMMENT 'Number of our accounts that traded it',
    `one_sided_fills` UInt64 COMMENT 'Fills that have only one side among our records: above 0 the set of accounts is not closed',
    `yes_shares` Decimal(38, 12) COMMENT 'Held YES shares of all accounts',
    `no_shares` Decimal(38, 12) COMMENT 'Held NO shares of all accounts; of a closed set equal to yes_shares',
    `cash_flow` Decimal(38, 12) COMMENT 'Sales - purchases + payouts, without fees, USDC',
    `value` Nullable(Decimal(38, 12)) COMMENT 'Value of the held shares at the price, USDC; NULL when it is unknown of one of them',
    `fees` Decimal(38, 12) COMMENT 'Fees, USDC',
    `pnl` Nullable(Decimal(38, 12)) COMMENT 'Profit or loss of all accounts after fees, USDC: cash_flow + value - fees',
    `difference` Nullable(Decimal(38, 12)) COMMENT 'pnl + fees, USDC',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction up to this time is included, by our clock, of the account that is least complete; NULL before the first complete walks'
)
AS
SELECT
    event,
    market,
    accounts,
    one_sided_fills,
    yes_shares,
    no_shares,
    cash_flow,
    value,
    fees,
    cash_flow + value - fees AS pnl,
    cash_flow + value AS difference,
    complete_to
FROM
(
    SELECT
        max(asset_event) AS event,
        market,
        uniqExact(account) AS accounts,
        sumIf(shares, outcome = 'YES') AS yes_shares,
        sumIf(shares, outcome = 'NO') AS no_shares,
        sum(asset_cash_flow) AS cash_flow,
        if(countIf(asset_value IS NULL) > 0, NULL, sum(asset_value)) AS value,
        sum(asset_fees) AS fees,
        if(countIf(known_to IS NULL) > 0, NULL, min(known_to)) AS complete_to
    FROM
    (
        SELECT
            account,
            market,
            outcome,
            shares,
            valued.event AS asset_event,
            valued.cash_flow AS asset_cash_flow,
            valued.fees AS asset_fees,
            valued.complete_to AS known_to,
            valued.value AS asset_value
        FROM {database}.pnl_by_asset_at(price = {price:String}) AS valued
    )
    GROUP BY market
) AS sums
LEFT JOIN
(
    SELECT market, countIf(sides != 2) AS one_sided_fills
    FROM (SELECT market, if(trade_id = '', trade_record_id, trade_id) AS fill, count() AS sides FROM {database}.trades GROUP BY market, fill)
    GROUP BY market
) AS fills USING (market);
