    fills AS
    (
        SELECT
            account,
            asset,
            max(event) AS event,
            max(market) AS market,
            -- An array of each column: ClickHouse aggregates numbers faster than tuples.
            arraySort(fill -> fill.1, arrayZip(
                groupArray(rank), groupArray(is_sale), groupArray(quantity), groupArray(price), groupArray(worth), groupArray(paid_fee), groupArray(has_time)
            )) AS ordered
        FROM
        (
            SELECT
                account, asset, event, market, side = 'SELL' AS is_sale, quantity, price, ifNull(fee, nothing) AS paid_fee, executed_at IS NOT NULL AS has_time,
                -- trade_order of trades as one number, which is sorted faster; computed here, as ClickHouse cannot read the parts of
                -- that tuple through the view.
                bitShiftLeft(toInt256(toUnixTimestamp64Micro(ifNull(executed_at, received_at))), 128)
                    + bitShiftLeft(toInt256(toUnixTimestamp64Micro(pass_began_at)), 64)
                    + bitShiftLeft(toUInt64(4294967295 - page), 32) + toUInt64(4294967295 - `_index`) AS rank,
                -- quantity × price in units of 10^-24, and in whole millionths.
                reinterpret(quantity, 'Int128') * reinterpret(price, 'Int128') AS product,
                intDiv(product, 1000000000000000000) AS millionths,
                2 * (product - millionths * 1000000000000000000) AS twice_the_rest,
                -- roundBankers of a Decimal256 is slow: only for products that are too large for an Int128.
                if(
                    quantity BETWEEN 0 AND 10000000000000 AND price BETWEEN 0 AND 10,
                    reinterpret(
                        1000000 * (millionths + (twice_the_rest > 1000000000000000000 OR (twice_the_rest = 1000000000000000000 AND millionths % 2 = 1))),
                        'Decimal(38, 12)'
                    ),
                    CAST(roundBankers(toDecimal256(quantity, 12) * toDecimal256(price, 12), 6), 'Decimal(38, 12)')
                ) AS worth
            FROM chosen_trades
        )
        GROUP BY account, asset
    ),
    flows AS
    (
        SELECT
            account,
            -- All assets of an account in one row, then in one block: the fold takes as long for one asset as for all of a block.
            groupArray((asset, event, market, ordered)) AS assets
        FROM fills
        GROUP BY account
    ),
