/** A question of a dashboard or of a person, about one hot event of the data set. */
export interface Question {
  readonly name: string;
  readonly sql: string;
}

const EVENT = "'event-003'";
const MARKET = "'market-0030'";
const ACCOUNT = "'account-1'";

/** @param endsAt end of the data set: “now” of the questions */
export function questionsAt(endsAt: Date): Question[] {
  const end = `toDateTime64('${endsAt.toISOString().slice(0, 19).replace('T', ' ')}', 6, 'UTC')`;
  const day = `(${end} - INTERVAL 1 DAY)`;
  const month = `(${end} - INTERVAL 30 DAY)`;
  const window = Math.ceil((Date.now() - endsAt.getTime()) / 1000) + 86_400;
  const at = (daysBefore: number) =>
    `'${new Date(endsAt.getTime() - daysBefore * 86_400_000).toISOString().slice(0, 19)}'`;
  const lastDay = `from_at = ${at(1)}, to_at = ${at(0)}`;
  const ofMarket = `market = ${MARKET}`;
  const ofEvent = `event = ${EVENT}`;
  const ofAccount = `account = ${ACCOUNT}`;
  const all = (name: string, sql: string): Question => ({ name, sql });
  return [
    all('latest_prices, one market', `SELECT last, bid, ask FROM latest_prices WHERE ${ofMarket}`),
    all('latest_prices, all markets', 'SELECT * FROM latest_prices'),
    all(
      'price_ticks, one event, 24 hours',
      `SELECT market, count(), avg(last) FROM price_ticks WHERE event = ${EVENT} AND received_at >= ${day} GROUP BY market`,
    ),
    all(
      'market_ticks, the newest 1,000 of one market',
      `SELECT * FROM market_ticks(market = ${MARKET}) ORDER BY received_at DESC, offset DESC, index DESC LIMIT 1000`,
    ),
    all(
      'movers, all markets, 24 hours',
      `SELECT * FROM movers(window_seconds = ${window}) ORDER BY abs(change) DESC LIMIT 100`,
    ),
    all('movers, one market, 24 hours', `SELECT change FROM movers(window_seconds = ${window}) WHERE ${ofMarket}`),
    all(
      'candles of a minute, one market, 24 hours',
      `SELECT * FROM candles(period_seconds = 60) WHERE ${ofMarket} AND begins_at >= ${day} ORDER BY begins_at`,
    ),
    all(
      'candles of an hour, one market, 30 days',
      `SELECT * FROM candles(period_seconds = 3600) WHERE ${ofMarket} AND begins_at >= ${month} ORDER BY begins_at`,
    ),
    all(
      'candles of 5 minutes, one event, 24 hours',
      `SELECT * FROM candles(period_seconds = 300) WHERE event = ${EVENT} AND begins_at >= ${day}`,
    ),
    all(
      'candles of a day, all markets, 30 days',
      `SELECT * FROM candles(period_seconds = 86400) WHERE begins_at >= ${month}`,
    ),
    all(
      'chance_candles of an hour, one market, 30 days',
      `SELECT * FROM chance_candles(period_seconds = 3600) WHERE ${ofMarket} AND begins_at >= ${month} ORDER BY begins_at`,
    ),
    all(
      'chance_series, one market, 24 hours',
      `SELECT * FROM chance_series WHERE ${ofMarket} AND occurred_at >= ${day} ORDER BY occurred_at`,
    ),
    all('latest_chances, one market', `SELECT chance FROM latest_chances WHERE ${ofMarket}`),
    all('market_chances, all markets', 'SELECT * FROM market_chances'),
    all('resolutions, all markets', 'SELECT * FROM resolutions'),
    all('event_overround, all events', 'SELECT * FROM event_overround ORDER BY overround LIMIT 200'),
    all(
      'spread_stats, one event, 24 hours',
      `SELECT * FROM spread_stats(window_seconds = ${window}) WHERE event = ${EVENT}`,
    ),
    all('coverage_by_event, one event', `SELECT * FROM coverage_by_event WHERE event = ${EVENT}`),
    all('coverage_by_event, all events', 'SELECT * FROM coverage_by_event'),
    all('gaps, all events, 24 hours', `SELECT * FROM gaps WHERE ends_at >= ${day} ORDER BY begins_at DESC LIMIT 200`),
    all('events, all', 'SELECT * FROM events'),
    all('event_changes, all', 'SELECT * FROM event_changes WHERE NOT first'),
    all('market_changes, one event', `SELECT * FROM market_changes WHERE event = ${EVENT}`),
    all('activity, all markets, last hour', `SELECT * FROM activity WHERE executed_at >= ${end} - INTERVAL 1 HOUR`),
    all('activity, one market, 24 hours', `SELECT * FROM activity WHERE ${ofMarket} AND executed_at >= ${day}`),
    all(
      'volume_by_period of an hour, one market, 24 hours',
      `SELECT * FROM volume_by_period(period_seconds = 3600) WHERE ${ofMarket} AND begins_at >= ${day}`,
    ),
    all(
      'volume_by_market_and_day, leaders of 24 hours',
      `SELECT event, market, sum(volume) AS turnover FROM volume_by_market_and_day WHERE scope = 'all' AND day >= toDate(${day}) GROUP BY event, market ORDER BY turnover DESC LIMIT 20`,
    ),
    all('volume_by_market, all markets', 'SELECT * FROM volume_by_market ORDER BY volume DESC LIMIT 100'),
    all('volume_by_day, 30 days', 'SELECT * FROM volume_by_day'),
    all(
      'trades, the latest of one account',
      `SELECT * FROM trades WHERE ${ofAccount} ORDER BY trade_order DESC LIMIT 50`,
    ),
    all('holdings, one account', `SELECT * FROM holdings WHERE ${ofAccount}`),
    all('pnl_by_asset, one account', `SELECT * FROM pnl_by_asset WHERE ${ofAccount}`),
    all('pnl_by_account, one account', `SELECT * FROM pnl_by_account WHERE ${ofAccount}`),
    all('pnl_by_account, all accounts', 'SELECT * FROM pnl_by_account'),
    all('position_reconciliation, one account', `SELECT * FROM position_reconciliation WHERE ${ofAccount}`),
    all('positions, one account', `SELECT * FROM positions WHERE ${ofAccount}`),
    all(
      'position_changes, one position',
      `SELECT * FROM position_changes WHERE ${ofAccount} AND asset = 'asset-1740-yes'`,
    ),
    all('account_completeness, all accounts', 'SELECT * FROM account_completeness'),
    all(
      'candle_prices of a minute, one market, 24 hours',
      `SELECT * FROM candle_prices(period_seconds = 60) WHERE ${ofMarket} AND begins_at >= ${day}`,
    ),
    all(
      'candles_with_volume of 5 minutes, one market, 24 hours',
      `SELECT * FROM candles_with_volume(period_seconds = 300) WHERE ${ofMarket} AND begins_at >= ${day}`,
    ),
    all(
      'market_periods of 5 minutes, one market, 24 hours',
      `SELECT * FROM market_periods(period_seconds = 300, ${lastDay}) WHERE ${ofMarket}`,
    ),
    all(
      'movers_between, all markets, a day 10 days ago',
      `SELECT * FROM movers_between(from_at = ${at(10)}, to_at = ${at(9)}) ORDER BY abs(change) DESC LIMIT 100`,
    ),
    all(
      'spread_stats_between, one event, a day 10 days ago',
      `SELECT * FROM spread_stats_between(from_at = ${at(10)}, to_at = ${at(9)}) WHERE ${ofEvent}`,
    ),
    all(
      'time_weighted_prices of 5 minutes, one market, 24 hours',
      `SELECT * FROM time_weighted_prices(period_seconds = 300, ${lastDay}) WHERE ${ofMarket}`,
    ),
    all(
      'resampled_prices of a minute, one market, 24 hours',
      `SELECT * FROM resampled_prices(period_seconds = 60, ${lastDay}) WHERE ${ofMarket}`,
    ),
    all(
      'realised_volatility of an hour, one event, 24 hours',
      `SELECT * FROM realised_volatility(period_seconds = 3600, ${lastDay}) WHERE ${ofEvent}`,
    ),
    all(
      'outcome_correlations of 5 minutes, one event, 24 hours',
      `SELECT * FROM outcome_correlations(period_seconds = 300, ${lastDay}) WHERE ${ofEvent}`,
    ),
    all(
      'arbitrage_windows, one event, 24 hours',
      `SELECT * FROM arbitrage_windows(${lastDay}) WHERE ${ofEvent} ORDER BY begins_at DESC LIMIT 100`,
    ),
    all('candle_audit, one market, 24 hours', `SELECT * FROM candle_audit(${lastDay}) WHERE ${ofMarket}`),
    all('market_lifetimes, one event', `SELECT * FROM market_lifetimes WHERE ${ofEvent}`),
    all('calibration_scores', 'SELECT * FROM calibration_scores'),
    all('calibration_curve', 'SELECT * FROM calibration_curve'),
    all('calibration_regression', 'SELECT * FROM calibration_regression'),
    all('longshots', 'SELECT * FROM longshots'),
    all(
      'trade_quotes, one market, 30 days',
      `SELECT avg(effective_spread), avg(markout_5s), avg(markout_1m) FROM trade_quotes(margin_ms = 250, scope = 'all') WHERE ${ofMarket}`,
    ),
    all(
      'price_impact, one market, 30 days',
      `SELECT * FROM price_impact(level = 'market', margin_ms = 250) WHERE ${ofMarket}`,
    ),
    all(
      'fill_slippage, one account and market, 30 days',
      `SELECT * FROM fill_slippage(margin_ms = 250) WHERE ${ofAccount} AND ${ofMarket}`,
    ),
    all(
      'equity_curve of a day, one account',
      `SELECT * FROM equity_curve(period_seconds = 86400, price = 'chance') WHERE ${ofAccount}`,
    ),
    all(
      'account_performance of days, one account',
      `SELECT * FROM account_performance(period_seconds = 86400, price = 'chance') WHERE ${ofAccount}`,
    ),
    all(
      'pnl_by_period of a day, one account',
      `SELECT * FROM pnl_by_period(period_seconds = 86400, price = 'chance') WHERE ${ofAccount}`,
    ),
    all('pnl_by_asset_at mid, one account', `SELECT * FROM pnl_by_asset_at(price = 'mid') WHERE ${ofAccount}`),
    all('pnl_by_event, one account', `SELECT * FROM pnl_by_event WHERE ${ofAccount}`),
    all('pnl_by_market, one account', `SELECT * FROM pnl_by_market WHERE ${ofAccount}`),
    all('pnl_sums by account at mid', "SELECT * FROM pnl_sums(level = 'account', price = 'mid')"),
    all('pnl_zero_sum of all accounts', "SELECT * FROM pnl_zero_sum(price = 'chance')"),
    all('position_field_reconciliation, one account', `SELECT * FROM position_field_reconciliation WHERE ${ofAccount}`),
    all('balance_reconciliation, one account', `SELECT * FROM balance_reconciliation WHERE ${ofAccount}`),
    all('open_interest, all markets', 'SELECT * FROM open_interest'),
    all('volume_leaders, 24 hours', `SELECT * FROM volume_leaders(window_seconds = ${window}) LIMIT 20`),
    all('volume_by_event, all events', 'SELECT * FROM volume_by_event'),
    all(
      'volume_by_category of an hour, 24 hours',
      `SELECT * FROM volume_by_category(period_seconds = 3600) WHERE begins_at >= ${day}`,
    ),
    all('volume_periods of an hour, 24 hours', `SELECT * FROM volume_periods(period_seconds = 3600, ${lastDay})`),
    all(
      'trade_sizes of an hour, one market, 24 hours',
      `SELECT * FROM trade_sizes(period_seconds = 3600) WHERE ${ofMarket} AND begins_at >= ${day}`,
    ),
    all(
      'trade_imbalance of an hour, one market, 24 hours',
      `SELECT * FROM trade_imbalance(period_seconds = 3600) WHERE ${ofMarket} AND begins_at >= ${day}`,
    ),
    all(
      'traders_by_period of an hour, one event, 24 hours',
      `SELECT * FROM traders_by_period(period_seconds = 3600, level = 'event') WHERE ${ofEvent} AND begins_at >= ${day}`,
    ),
    all(
      'traders_between, all markets, 24 hours',
      `SELECT * FROM traders_between(level = 'market', ${lastDay}) ORDER BY traders DESC LIMIT 20`,
    ),
  ];
}

/** Views that no question is about, and why. */
export const UNASKED_VIEWS: Readonly<Record<string, readonly string[]>> = {
  'others are made of them': [
    'account_periods',
    'account_polls',
    'activity_volumes',
    'backfilled_ranges',
    'calibration_forecasts',
    'chance_backfills',
    'completeness_buckets',
    'completeness_ranges',
    'coverage',
    'event_gaps',
    'event_lifetimes',
    'history_completeness',
    'latest_account_polls',
    'latest_ticks',
    'lost_periods',
    'market_payouts',
    'merged_coverage',
    'observed_ranges',
    'payouts',
    'poll_ticks',
    'position_costs',
    'position_days',
    'position_totals',
    'recent_account_polls',
    'settled_positions',
    'shared_fills',
    'subscriptions',
    'trade_costs',
    'volume_completeness',
  ],
  'the data set has no rows of them, or one per session': [
    'active_orders',
    'audit_intervals',
    'balance_changes',
    'balance_series',
    'balances',
    'categories',
    'category_changes',
    'coin_changes',
    'coins',
    'dead_letters_between',
    'feed_loss_estimate',
    'freshness',
    'incomplete_polls',
    'order_changes',
    'orders',
    'pipeline_lag',
    'position_stats',
    'polls_between',
    'profile_stats',
    'record_bodies',
    'record_delays',
    'sessions',
    'skipped_chance_points',
    'table_sizes',
    'tag_changes',
    'tags',
    'tpsl_orders',
    'transactions',
    'undelivered',
  ],
  'lists of a few columns of what others show': ['assets', 'fills', 'markets'],
};
