-- Sums the items of a day by market. run is a random number.
INSERT INTO {database}.volume_days (executed_day, market, rollup_id, trades, shares, volume, yes_value, unpriced_trades, unpriced_shares)
SELECT
    {day:Date} AS executed_day,
    market,
    {run:UInt64} AS rollup_id,
{fill_sums}
FROM
(
    SELECT
        market,
        quantity,
        price,
{activity_outcome},
        multiIf(outcome = 'YES', price, outcome = 'NO', 1 - price, NULL) AS yes_price
    FROM {database}.activity_records FINAL
    WHERE executed_day = {day:Date}
)
GROUP BY market
