-- Over rows of pnl_by_period, named assets.
sum(assets.trades) AS trades,
sum(assets.cost) AS cost,
sum(ifNull(assets.value, toDecimal128(0, 12))) AS value,
countIf(assets.value IS NULL) AS unpriced,
sum(assets.realised_pnl) AS realised_pnl,
sum(assets.fifo_realised_pnl) AS fifo_realised_pnl,
sum(assets.cash_flow) AS cash_flow,
sum(assets.fees) AS fees,
sum(ifNull(assets.pnl, toDecimal128(0, 12))) AS pnl,
any(assets.observed) AS observed,
any(assets.backfilled) AS backfilled,
any(assets.missing) AS missing,
any(assets.complete_to) AS complete_to
