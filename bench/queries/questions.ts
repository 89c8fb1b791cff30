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
  const ofMarket = `market = ${MARKET}`;
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
    all('position_changes, one account', `SELECT * FROM position_changes WHERE ${ofAccount}`),
    all('account_completeness, all accounts', 'SELECT * FROM account_completeness'),
  ];
}
