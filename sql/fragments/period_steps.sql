-- The last one of each period of `steps`, an array as in position_days and trade_costs, with the start of the period instead of its time.
-- The statement around it defines period_of, which gives the start of the period of a time.
arrayMap(step -> period_of(step.1), steps) AS step_periods,
arrayMap((period, next) -> period != next, step_periods, arraySlice(arrayPushBack(step_periods, step_periods[-1] + 1), 2)) AS are_last,
arrayFilter((step, is_last) -> is_last, steps, are_last) AS last_steps,
arrayFilter((period, is_last) -> is_last, step_periods, are_last) AS periods
