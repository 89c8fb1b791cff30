-- How was every market resolved, and how is that known?
--
-- One row per market of market_chances. The exchange does not publish resolutions. The basis is
--   payout        a payout of our accounts says it: the asset that won pays 1 USDC per share, the other one nothing
--   final chance  a last chance of exactly 0 or 1 (market_chances) says it, and no payout agrees: inferred
--   none          neither: the market is open, or its end was not recorded
-- Where both are known and do not agree, the final chance counts; pnl_by_asset shows the payout_difference. Void is a market
-- in which no outcome won, so that shares are refunded: both assets paid something, both paid nothing, or, without a final
-- chance, one paid more than 0 and less than 1 USDC per share to an account whose trades up to the payout are all stored.
-- It can be known from payouts only; the interface does not document void markets.
--
-- settlement price = what a share is worth since then: 1, 0, or of a void market payouts / shares held (NULL when unknown).
-- The step of the price to 0 or 1 is no trade: candles, movers and spread_stats leave out ticks with such a last price.
CREATE OR REPLACE VIEW {database}.resolutions
(
    `market` String COMMENT 'Market ID',
    `event` String COMMENT 'Event ID; empty when unknown',
    `name` Nullable(String) COMMENT 'Name of the market',
    `resolution` String COMMENT 'yes, no, void or unresolved',
    `basis` String COMMENT 'payout, final chance or none',
    `yes_settlement_price` Nullable(Decimal(38, 12)) COMMENT 'What a YES share is worth, USDC per share; NULL when unresolved or unknown',
    `no_settlement_price` Nullable(Decimal(38, 12)) COMMENT 'What a NO share is worth, USDC per share; NULL when unresolved or unknown',
    `chance` Nullable(Float64) COMMENT 'Last known probability of YES, 0 to 1; NULL when none is known',
    `paid_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the first payout was made, by the exchange; NULL without a payout',
    `known_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the final chance was received, by our clock; NULL without one'
)
AS
WITH
    -- The division is evaluated for every row.
    toDecimal128('0.000000000001', 12) AS smallest
SELECT
    market,
    event,
    name,
    resolution,
    multiIf(
        resolution = 'unresolved', 'none',
        resolution = 'void' OR (resolution = 'yes' AND paid_as_yes) OR (resolution = 'no' AND paid_as_no), 'payout',
        'final chance'
    ) AS basis,
    multiIf(resolution = 'yes', toDecimal128(1, 12), resolution = 'no', toDecimal128(0, 12), resolution = 'void' AND yes_shares > 0, divideDecimal(yes_amount_of_known, greatest(yes_shares, smallest), 12), NULL) AS yes_settlement_price,
    multiIf(resolution = 'yes', toDecimal128(0, 12), resolution = 'no', toDecimal128(1, 12), resolution = 'void' AND no_shares > 0, divideDecimal(no_amount_of_known, greatest(no_shares, smallest), 12), NULL) AS no_settlement_price,
    last_chance AS chance,
    first_paid_at AS paid_at,
    if(decided, chance_known_at, NULL) AS known_at
FROM
(
    SELECT
        *,
        multiIf(
            yes_payouts > 0 AND no_payouts > 0 AND (yes_amount > 0) = (no_amount > 0), 'void',
            decided, if(last_chance = 1, 'yes', 'no'),
            yes_amount_of_known > 0 AND yes_amount_of_known < yes_shares OR no_amount_of_known > 0 AND no_amount_of_known < no_shares, 'void',
            paid_as_yes, 'yes',
            paid_as_no, 'no',
            'unresolved'
        ) AS resolution
    FROM
    (
        SELECT
            chances.market AS market,
            known.event AS event,
            known.name AS name,
            last_chance, decided, chance_known_at, first_paid_at,
            yes_payouts, no_payouts, yes_amount, no_amount, yes_amount_of_known, no_amount_of_known, yes_shares, no_shares,
            yes_amount > 0 OR (no_payouts > 0 AND no_amount = 0) AS paid_as_yes,
            no_amount > 0 OR (yes_payouts > 0 AND yes_amount = 0) AS paid_as_no
        FROM (SELECT market, market_chances.chance AS last_chance, decided, market_chances.known_at AS chance_known_at FROM {database}.market_chances) AS chances
        LEFT JOIN (SELECT market, event, name FROM {database}.markets) AS known ON known.market = chances.market
        LEFT JOIN
        (
            SELECT market, yes_payouts, no_payouts, yes_amount, no_amount, yes_amount_of_known, no_amount_of_known, yes_shares, no_shares, first_paid_at
            FROM {database}.market_payouts
        ) AS payments ON payments.market = chances.market
    )
);
