-- Over rows of pnl_by_period, named assets.
sum(assets.trades) AS trades,
sum(assets.cost) AS cost,
countIf(assets.value IS NULL) AS unpriced,
if(unpriced > 0, NULL, sum(assets.value)) AS value,
sum(assets.realised_pnl) AS realised_pnl,
sum(assets.fifo_realised_pnl) AS fifo_realised_pnl,
sum(assets.cash_flow) AS cash_flow,
sum(assets.fees) AS fees,
-- Of an asset without a price it is in the period in which it has one again.
sum(ifNull(assets.pnl, toDecimal128(0, 12))) AS known_pnl,
any(assets.observed) AS observed,
any(assets.backfilled) AS backfilled,
any(assets.missing) AS missing,
any(assets.complete_to) AS complete_to
