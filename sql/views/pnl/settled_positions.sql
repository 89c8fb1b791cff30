-- How is the market of each asset settled that an account traded or was paid for?
--
-- One row per account and asset, also of payouts without known trades: the costs by day of position_days, and the settlement by which
-- pnl_by_asset and pnl_by_period value the shares. pnl_by_asset says what a settlement is, and has the readable form.
CREATE OR REPLACE VIEW {database}.settled_positions
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty when unknown',
    `market` String COMMENT 'Market ID; empty when unknown',
    `asset` String COMMENT 'Asset ID',
    `outcome` String COMMENT 'YES or NO; empty when unknown',
    `days` Array(Tuple(begins_at DateTime64(6, 'UTC'), trades UInt64, last_trade_at Nullable(DateTime64(6, 'UTC')), bought_shares Decimal(38, 12), bought_value Decimal(38, 12), sold_shares Decimal(38, 12), sold_value Decimal(38, 12), fees Decimal(38, 12), cost Decimal(38, 12), fifo_cost Decimal(38, 12), oversold_shares Decimal(38, 12))) COMMENT 'Shares, and sums and costs in USDC, at the end of every UTC day with a trade, in order, as in position_days; empty when no trade is known',
    `held_shares` Decimal(38, 12) COMMENT 'Shares bought less shares sold',
    `resolution` String COMMENT 'Resolution of the market, as in resolutions; empty when unknown',
    `chance` Nullable(Float64) COMMENT 'Chance of the market, 0 to 1; NULL when unknown',
    `price` Nullable(Decimal(38, 12)) COMMENT 'Price of a share, USDC: at chance, or the settlement price; NULL when unknown',
    `held_value` Nullable(Decimal(38, 12)) COMMENT 'held_shares × price, USDC; NULL when the price is unknown',
    `settlement` String COMMENT 'payout, inferred or open: what settled the market (pnl_by_asset)',
    `amount` Decimal(38, 12) COMMENT 'Amount of the PAYOUT transactions, USDC; 0 when there is none',
    `paid_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last one; NULL when there is none or it has no time',
    `payout` Decimal(38, 12) COMMENT 'amount; if the settlement is inferred, held_value. USDC; 0 while open',
    `settled_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When that was known; NULL when open or unknown',
    `computed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a worker computed days; NULL when it is computed from the trades by this query'
)
AS
WITH traded AS
(
    -- Not a FULL JOIN, through which ClickHouse does not push a filter by account.
    SELECT
        account,
        asset,
        max(parts.event) AS event,
        max(parts.market) AS market,
        groupArrayArray(parts.known_days) AS days,
        days[-1].4 - days[-1].6 AS held_shares,
        max(parts.is_paid) AS is_paid,
        sum(parts.amount) AS amount,
        max(parts.paid_at) AS paid_at,
        max(parts.computed_at) AS computed_at
    FROM
    (
        SELECT account, asset, event, market, days AS known_days, 0 AS is_paid, toDecimal128(0, 12) AS amount, NULL AS paid_at, computed_at
        FROM {database}.position_days
        UNION ALL
        SELECT account, asset, '' AS event, '' AS market, [] AS known_days, 1 AS is_paid, amount, paid_at, NULL AS computed_at
        FROM {database}.payouts
    ) AS parts
    GROUP BY account, asset
)
-- Each step is a subquery of its own: ClickHouse plans nested aliases of one SELECT many times slower.
SELECT
    account,
    event,
    market,
    asset,
    outcome,
    days,
    held_shares,
    resolution,
    chance,
    price,
    held_value,
    settlement,
    amount,
    paid_at,
    computed_at,
    multiIf(settlement = 'payout', paid_at, settlement = 'inferred', known_at, NULL) AS settled_at,
    multiIf(settlement = 'payout', amount, settlement = 'inferred', assumeNotNull(held_value), toDecimal128(0, 12)) AS payout
FROM
(
    SELECT
        *,
        CAST(toDecimal256(held_shares, 12) * toDecimal256(price, 12), 'Nullable(Decimal(38, 12))') AS held_value,
        multiIf(is_paid = 1, 'payout', resolution IN ('yes', 'no', 'void') AND price IS NOT NULL, 'inferred', 'open') AS settlement
    FROM
    (
        SELECT
            *,
            multiIf(
                outcome = '', NULL,
                resolution IN ('', 'unresolved'), if(outcome = 'NO', 1 - yes_price, yes_price),
                outcome = 'NO', no_settlement_price,
                yes_settlement_price
            ) AS price
        FROM
        (
            SELECT *, toDecimal128OrNull(toString(resolved.chance), 12) AS yes_price
            FROM
            (
                SELECT
                    traded.* EXCEPT (event, market),
                    if(traded.event = '', known.event, traded.event) AS event,
                    if(traded.market = '', known.market, traded.market) AS market,
                    outcome
                FROM traded
                LEFT JOIN (SELECT asset, event, market, outcome FROM {database}.assets) AS known USING (asset)
            ) AS placed
            LEFT JOIN
            (
                SELECT market, resolution, yes_settlement_price, no_settlement_price, chance, known_at
                FROM {database}.resolutions
                WHERE market GLOBAL IN (SELECT market FROM {database}.trade_states)
            ) AS resolved USING (market)
        )
    )
)
-- An array of one element changes no row. But it keeps ClickHouse from reordering the joins of this view together with the joins of a query
-- that reads it, which may confuse their columns (ClickHouse issue 114113).
ARRAY JOIN [1] AS one;
