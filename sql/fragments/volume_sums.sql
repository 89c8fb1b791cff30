-- By market, outcome and side, or with level = 'category' by category: then event, market, outcome and side are empty.
FROM
(
    SELECT
        *,
        period_end(begins_at) AS ends_at,
    {history_fractions}
    FROM
    (
        SELECT
            scope,
            begins_at,
            category,
            event,
            market,
            outcome,
            side,
        {fill_sums},
            if(shares = unpriced_shares, NULL, toFloat64(yes_value) / toFloat64(shares - unpriced_shares)) AS vwap,
            if(scope = 'all', uniqExactIf(user_id, user_id != ''), NULL) AS traders,
            if(scope = 'own', sum(ifNull(fee, toDecimal128(0, 12))), NULL) AS fees,
            any(known_to.complete_to) AS complete_to
        FROM
        (
            SELECT
                scope,
                period_start(executed_at) AS begins_at,
                ifNull(event_category, '') AS category,
                if(level = 'category', '', fills.event) AS event,
                if(level = 'category', '', fills.market) AS market,
                if(level = 'category', '', fills.outcome) AS outcome,
                if(level = 'category', '', fills.side) AS side,
                quantity,
                price,
                yes_price,
                fee,
                user_id
            FROM (SELECT * FROM {database}.fills) AS fills
            LEFT JOIN (SELECT event, category AS event_category FROM ({event_texts})) AS known ON known.event = fills.event
        ) AS traded
        LEFT JOIN (SELECT scope, complete_to FROM {database}.volume_completeness) AS known_to USING (scope)
        GROUP BY scope, begins_at, category, event, market, outcome, side
    )
)
