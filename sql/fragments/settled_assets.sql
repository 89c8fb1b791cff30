-- The assets of accounts in `traded`, which the statement around it defines, with what resolves their markets: account, asset, event,
-- market, held_shares, is_paid, amount, paid_at and any others. The columns that it adds: outcome, resolution, chance, price, worth
-- (of the held shares), settlement, payout and settled_at, as pnl_by_asset has them.
-- Each step is a subquery of its own: ClickHouse plans nested aliases of one SELECT many times slower.
SELECT
    *,
    multiIf(settlement = 'payout', paid_at, settlement = 'inferred', known_at, NULL) AS settled_at,
    multiIf(settlement = 'payout', amount, settlement = 'inferred', assumeNotNull(worth), toDecimal128(0, 12)) AS payout
FROM
(
    SELECT
        *,
        CAST(toDecimal256(held_shares, 12) * toDecimal256(price, 12), 'Nullable(Decimal(38, 12))') AS worth,
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
