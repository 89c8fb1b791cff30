-- How many shares of every market exist, as far as the holdings of our accounts show it?
--
-- Every YES share was created together with a NO share, so as many YES as NO shares exist: that number is the open interest.
-- The interface does not send it, and the activity feed does not show whether a fill created shares, moved or destroyed them.
-- Only the holdings of our accounts in unresolved markets are known. They give a lower bound: the greater of their YES and NO shares.
CREATE OR REPLACE VIEW {database}.open_interest
(
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID',
    `yes_shares` Decimal(38, 12) COMMENT 'YES shares of our accounts',
    `no_shares` Decimal(38, 12) COMMENT 'NO shares of our accounts',
    `min_open_interest` Decimal(38, 12) COMMENT 'greatest(yes_shares, no_shares): at least as many shares of each outcome exist',
    `accounts` UInt64 COMMENT 'Number of our accounts that hold shares of the market',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade up to this time is included, by our clock, of the account that is least complete; NULL before the first complete walks'
)
AS
SELECT
    max(pnl_by_asset.event) AS event,
    market,
    sumIf(shares, outcome = 'YES') AS yes_shares,
    sumIf(shares, outcome = 'NO') AS no_shares,
    greatest(yes_shares, no_shares) AS min_open_interest,
    uniqExact(account) AS accounts,
    if(countIf(pnl_by_asset.complete_to IS NULL) > 0, NULL, min(pnl_by_asset.complete_to)) AS complete_to
FROM {database}.pnl_by_asset
WHERE settlement = 'open' AND shares > 0 AND market != ''
GROUP BY market;
