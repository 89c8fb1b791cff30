-- Equity and drawdown of accounts at the end of every period: of the rows `periods` with is_period, which the statement around it
-- defines. Other rows have neither.
SELECT *, greatest(toDecimal128(0, 12), max(equity) OVER (PARTITION BY account, is_period ORDER BY begins_at)) - equity AS drawdown
FROM
(
    SELECT *, CAST(sum(pnl) OVER (PARTITION BY account, is_period ORDER BY begins_at), 'Decimal(38, 12)') AS equity
    FROM periods
)
