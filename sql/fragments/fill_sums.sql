count() AS trades,
sum(quantity) AS shares,
CAST(sum(toDecimal256(quantity, 12) * toDecimal256(price, 12)), 'Decimal(38, 12)') AS volume,
CAST(sum(toDecimal256(quantity, 12) * toDecimal256(ifNull(yes_price, toDecimal128(0, 12)), 12)), 'Decimal(38, 12)') AS yes_value,
countIf(yes_price IS NULL) AS unpriced_trades,
sumIf(quantity, yes_price IS NULL) AS unpriced_shares
