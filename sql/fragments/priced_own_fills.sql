-- The rows `own_fills`, a table that the statement around it defines, in the form of fills.
SELECT
    'own' AS scope,
    fill_id,
    if(recorded_event != '', recorded_event, known_event) AS event,
    market,
    outcome,
    side,
    quantity,
    price,
    multiIf(outcome = 'YES', price, outcome = 'NO', 1 - price, NULL) AS yes_price,
    toNullable(own_fills.fee) AS fee,
    '' AS user_id,
    executed_at
FROM own_fills
LEFT JOIN (SELECT asset, outcome FROM {database}.assets) AS known USING (asset)
LEFT JOIN (SELECT market, event AS known_event FROM {database}.markets) AS known_markets USING (market)
