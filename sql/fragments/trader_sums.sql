-- Over rows of activity, with level: 'market', 'event' or 'all'; then market, or both, are empty.
if({level:String} = 'all', '', activity.event) AS event,
if({level:String} = 'market', activity.market, '') AS market,
uniqExactIf(activity.user_id, activity.user_id != '') AS traders,
count() AS trades,
countIf(activity.user_id = '') AS anonymous_trades
