            arrayMap((sold, is_end) -> sold > 0 OR is_end, sold, are_ends) AS are_steps,
            arrayFilter((is_end, is_step) -> is_step, are_ends, are_steps) AS step_ends,
            arrayFilter((sold, is_step) -> is_step, sold, are_steps) AS step_sold,
            -- Decimals are compared: compiled by ClickHouse, greatest and least of Int128 are wrong for negative numbers.
            arrayMap(
                (held, sold) -> greatest(held + sold, toDecimal128('0.000000000001', 12)),
                arrayFilter((held, is_step) -> is_step, held, are_steps), step_sold
            ) AS step_held_shares,
            arrayMap(held -> toInt128(held * 1000000000000), step_held_shares) AS step_held,
            arrayMap((sold, held) -> toInt128(least(sold, held) * 1000000000000), step_sold, step_held_shares) AS step_leaving,
            arrayMap(paid -> toInt128(paid * 1000000), arrayFilter((paid, is_step) -> is_step, running_bought_value, are_steps)) AS step_paid,
            arrayMap((paid, before) -> paid - before, step_paid, arrayPopBack(arrayPushFront(step_paid, toInt128(0)))) AS step_added
