-- Equity, profit or loss and drawdown of accounts at the end of every period: of the rows `periods` with is_period, which the statement
-- around it defines. NULL where the price of a held asset is unknown. Other rows have none of them.
SELECT
    *,
    equity - ifNull(anyLast(equity) OVER (PARTITION BY account, is_period ORDER BY begins_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), toDecimal128(0, 12)) AS pnl,
    greatest(toDecimal128(0, 12), ifNull(max(equity) OVER (PARTITION BY account, is_period ORDER BY begins_at), toDecimal128(0, 12))) - equity AS drawdown
FROM
(
    SELECT *, if(unpriced > 0, NULL, CAST(sum(known_pnl) OVER (PARTITION BY account, is_period ORDER BY begins_at), 'Decimal(38, 12)')) AS equity
    FROM periods
)
