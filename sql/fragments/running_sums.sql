            arrayMap((quantity, is_sale) -> if(is_sale, quantity, nothing), traded.4.3, traded.4.2) AS sold,
            arrayMap((quantity, is_sale) -> if(is_sale, nothing, quantity), traded.4.3, traded.4.2) AS bought,
            traded.4.4 AS prices,
            traded.4.7 AS have_times,
            arrayCumSum(sold) AS running_sold_shares,
            arrayCumSum(arrayMap((worth, is_sale) -> if(is_sale, worth, nothing), traded.4.5, traded.4.2)) AS running_sold_value,
            arrayCumSum(bought) AS running_bought_shares,
            arrayCumSum(arrayMap((worth, is_sale) -> if(is_sale, nothing, worth), traded.4.5, traded.4.2)) AS running_bought_value,
            arrayCumSum(traded.4.6) AS running_fees,
            arrayMap((bought, sold) -> bought - sold, running_bought_shares, running_sold_shares) AS held,
            -- The purchases: price, and shares and worth of it and all before it.
            arrayFilter((price, bought) -> bought > 0, prices, bought) AS lot_prices,
            arrayFilter((shares, bought) -> bought > 0, running_bought_shares, bought) AS lot_shares,
            arrayFilter((value, bought) -> bought > 0, running_bought_value, bought) AS lot_values,
            -- Whether it is the last trade of a period.
            arrayMap((period, next) -> period != next, periods, arrayPushBack(arrayPopFront(periods), periods[-1] + 1)) AS are_ends
