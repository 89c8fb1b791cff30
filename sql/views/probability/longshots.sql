-- Are shares that cost few cents worth their price, for buyers of YES and of NO, as taker and as maker?
--
-- One row per role, basis and cent of the YES price: [cent / 100, (cent + 1) / 100), so exactly 0.07 is in bin 7. From the trades of all users
-- (activity, prices of more than 0 and less than 1) of markets that were resolved yes or no (resolutions): void and unresolved ones are
-- left out. Basis any: markets of both bases. Every trade counts once, of whatever size. Trades whose activity was not received, or
-- whose outcome is unknown, are left out. Fees are not known.
--   win_rate          = fraction of the trades whose market was resolved YES
--   yes_excess_return = sum(result - price) / sum(price) of those who got YES shares; result = 1 if YES won, else 0
--   no_excess_return  = sum(price - result) / sum(1 - price) of those who got NO shares
-- Role taker: a taker who bought YES or sold NO got YES shares, the others got NO shares. Maker: the other side of each trade. Any: both
-- sides of each trade.
-- The side in the feed is assumed to be the taker's; the interface does not say it. A sale counts as getting the
-- other outcome.
-- A rate is NULL with fewer than 30 markets of its side, because trades of one market are not independent.
CREATE OR REPLACE VIEW {database}.longshots
(
    `role` String COMMENT 'taker, maker or any',
    `basis` String COMMENT 'How the resolutions are known: payout, final chance (inferred), or any (both)',
    `cent` UInt16 COMMENT 'Lower edge of the bin of YES prices, inclusive, in cents: 0 to 99',
    `markets` UInt64 COMMENT 'Number of markets',
    `trades` UInt64 COMMENT 'Number of trades',
    `yes_markets` UInt64 COMMENT 'Number of markets in which the role got YES shares',
    `no_markets` UInt64 COMMENT 'Number of markets in which the role got NO shares',
    `win_rate` Nullable(Float64) COMMENT 'Fraction of trades whose market was resolved YES, 0 to 1; NULL with fewer than 30 markets',
    `yes_excess_return` Nullable(Float64) COMMENT 'Gain as a fraction of what was paid for YES shares: -1 is all lost, 0 a fair price; NULL with fewer than 30 yes_markets',
    `no_excess_return` Nullable(Float64) COMMENT 'Gain as a fraction of what was paid for NO shares: -1 is all lost, 0 a fair price; NULL with fewer than 30 no_markets'
)
AS
SELECT
    role,
    basis,
    cent,
    uniqExact(market) AS markets,
    count() AS trades,
    uniqExactIf(market, gets_yes) AS yes_markets,
    uniqExactIf(market, gets_no) AS no_markets,
    if(markets >= 30, sum(result) / trades, NULL) AS win_rate,
    if(yes_markets >= 30, sumIf(result, gets_yes) / toFloat64(sumIf(price, gets_yes)) - 1, NULL) AS yes_excess_return,
    if(no_markets >= 30, countIf(gets_no AND result = 0) / toFloat64(sumIf(1 - price, gets_no)) - 1, NULL) AS no_excess_return
FROM
(
    SELECT
        market,
        price,
        result,
        toUInt16(price * 100) AS cent,
        arrayJoin(['any', resolution_basis]) AS basis,
        arrayJoin(['any', 'taker', 'maker']) AS role,
        role = 'any' OR (role = 'taker') = taker_gets_yes AS gets_yes,
        role = 'any' OR (role = 'taker') != taker_gets_yes AS gets_no
    FROM
    (
        SELECT market, assumeNotNull(yes_price) AS price, (outcome = 'YES') = (side = 'BUY') AS taker_gets_yes
        FROM {database}.activity
        WHERE side IN ('BUY', 'SELL') AND yes_price > 0 AND yes_price < 1
    ) AS traded
    INNER JOIN
    (
        SELECT market, toUInt64(resolution = 'yes') AS result, resolutions.basis AS resolution_basis
        FROM {database}.resolutions
        WHERE resolution IN ('yes', 'no')
    ) AS resolved USING (market)
)
GROUP BY role, basis, cent;
