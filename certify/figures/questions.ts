import { type Query, readTexts, type TextRow } from '../recorded.js';

/** What a view of figures is asked: the columns that identify a row, those that are compared, and the view with its arguments. */
export interface Question {
  readonly key: readonly string[];
  readonly value: readonly string[];
  readonly from: string;
}

/** Periods of the figures, seconds: several of them in a run of a minute. */
export const SHORT = 10;
export const LONG = 60;
/** Time between two prices whose difference is a change, seconds: short enough for a correlation in a run of a minute. */
export const STEP = 2;
/** A window that ends when it is asked for, and that the whole run is in; seconds. */
const UNTIL_NOW = 172_800;
/** How long before a trade its quote was received at least, the default of `trade_quotes`, milliseconds. */
export const QUOTE_MARGIN_MS = 250;
export const PRICE_KINDS = ['chance', 'mid', 'bid'] as const;
export type PriceKind = (typeof PRICE_KINDS)[number];

const SECOND = 'toUnixTimestamp(begins_at)';
const micros = (column: string): string => `toUnixTimestamp64Micro(${column})`;
const MILLISECOND = 'toUnixTimestamp64Milli(executed_at)';
const PROFITS = ['cost', 'fifo_cost', 'value', 'realised_pnl', 'unrealised_pnl', 'fifo_realised_pnl'];
const SUMS = [
  ...['trades', 'bought_value', 'sold_value', 'payout', 'fees', 'cash_flow'],
  ...[...PROFITS, 'fifo_unrealised_pnl', 'pnl'],
];

const zeroSum = (price: PriceKind): Question => ({
  key: ['market'],
  value: [
    ...['accounts', 'one_sided_fills', 'yes_shares', 'no_shares', 'cash_flow', 'value', 'fees', 'pnl', 'difference'],
  ],
  from: `pnl_zero_sum(price = '${price}')`,
});

/** Unix seconds. */
interface Times {
  readonly from: number;
  readonly to: number;
}

/** The second half of a time, in which markets have a price from before. */
export const secondHalf = ({ from, to }: Times): Times => ({
  from: from + Math.floor((to - from) / 2 / SHORT) * SHORT,
  to,
});

const windowOf = ({ from, to }: Times): string => `from_at = '${from}', to_at = '${to}'`;

/** The questions, by the name of the comparison. */
export const questionsOf = (times: Times) =>
  ({
    'profit by period': {
      key: ['account', 'asset', SECOND],
      value: [
        ...['trades', 'shares', 'price', 'cash_flow', 'payout', 'fees', ...PROFITS],
        ...['fifo_unrealised_pnl', 'pnl'],
      ],
      from: `pnl_by_period(period_seconds = ${SHORT}, price = 'mid')`,
    },
    'equity curves': {
      key: ['account', SECOND],
      value: [
        ...['trades', 'cost', 'value', 'unpriced', 'realised_pnl', 'fifo_realised_pnl', 'cash_flow', 'fees', 'pnl'],
        ...['equity', 'drawdown'],
      ],
      from: `equity_curve(period_seconds = ${SHORT}, price = 'bid')`,
    },
    'account performance': {
      key: ['account'],
      value: [
        ...[SECOND, 'trades', 'pnl', 'unpriced', 'unpriced_periods', 'max_drawdown', 'max_capital'],
        ...['return_on_capital', 'closed_markets', 'won_markets', 'hit_rate'],
      ],
      from: `account_performance(period_seconds = ${SHORT}, price = 'chance')`,
    },
    'profit by market': {
      key: ['account', 'market'],
      value: ['yes_shares', 'no_shares', 'pairs', ...SUMS],
      from: 'pnl_by_market',
    },
    'profit by event': { key: ['account', 'event'], value: SUMS, from: 'pnl_by_event' },
    'profit at mid': {
      key: ['account', 'asset'],
      value: ['price', 'value', 'unrealised_pnl', 'fifo_unrealised_pnl', 'pnl'],
      from: "pnl_by_asset_at(price = 'mid')",
    },
    'zero-sum by market at chance': zeroSum('chance'),
    'zero-sum by market at mid': zeroSum('mid'),
    'zero-sum by market at bid': zeroSum('bid'),
    'reconciled balances': {
      key: ['account', "if(ticker = 'USDC', 'USDC', asset)"],
      value: ['balance', 'difference', 'state'],
      from: "balance_reconciliation WHERE ticker IN ('', 'USDC')",
    },
    'fields of positions': {
      key: ['account', 'asset', 'code'],
      value: ['ours', 'state'],
      from: 'position_field_reconciliation',
    },
    'open interest': {
      key: ['market'],
      value: ['yes_shares', 'no_shares', 'min_open_interest', 'accounts'],
      from: 'open_interest',
    },
    'candles with volume': {
      key: ['market', SECOND],
      value: [...['open', 'high', 'low', 'close', 'ticks', 'trades', 'shares', 'volume', 'vwap']],
      from: `candles_with_volume(period_seconds = ${SHORT})`,
    },
    'sizes of trades': {
      key: ['scope', 'market', SECOND],
      value: [
        ...['trades', 'mean_shares', 'min_shares', 'p10_shares', 'p50_shares', 'p90_shares', 'p99_shares'],
        'max_shares',
      ],
      from: `trade_sizes(period_seconds = ${LONG})`,
    },
    'imbalance of trades': {
      key: ['scope', 'market', SECOND],
      value: [
        ...['bought_trades', 'sold_trades', 'unsigned_trades', 'bought_shares', 'sold_shares', 'net_shares'],
        'imbalance',
      ],
      from: `trade_imbalance(period_seconds = ${LONG})`,
    },
    'traders by event': {
      key: ['event', SECOND],
      value: ['traders', 'trades', 'anonymous_trades'],
      from: `traders_by_period(period_seconds = ${LONG}, level = 'event')`,
    },
    'spreads and markouts': {
      key: ['market', MILLISECOND, 'direction', 'quantity', 'yes_price'],
      value: [
        ...['mid', 'quote_age_seconds', 'effective_spread', 'slippage', 'markout_5s', 'markout_1m', 'markout_5m'],
      ],
      from: `trade_quotes(margin_ms = ${QUOTE_MARGIN_MS}, scope = 'all')`,
    },
    'slippage of own fills': {
      key: ['account', 'asset', MILLISECOND, 'side', 'quantity', 'price'],
      value: ['outcome', 'fee', 'mid', 'quote_age_seconds', 'slippage', 'slippage_value'],
      from: `fill_slippage(margin_ms = ${QUOTE_MARGIN_MS})`,
    },
    'time-weighted prices': {
      key: ['market', SECOND],
      value: ['last_twap', 'mid_twap', 'mid_seconds', 'observed'],
      from: `time_weighted_prices(period_seconds = ${SHORT}, ${windowOf(times)})`,
    },
    'resampled prices': {
      key: ['market', 'toUnixTimestamp(sampled_at)'],
      value: ['last', 'bid', 'ask', 'mid', 'age_seconds', 'state'],
      from: `resampled_prices(period_seconds = ${SHORT}, ${windowOf(times)})`,
    },
    'latest prices': {
      key: ['market'],
      value: ['last', 'bid', 'ask', 'mid', 'spread', 'crossed'],
      from: 'latest_prices',
    },
    movers: {
      key: ['market'],
      value: ['price_before', 'price_now', 'change', 'high', 'low', micros('price_before_at')],
      from: `movers(window_seconds = ${UNTIL_NOW})`,
    },
    'movers of a window': {
      key: ['market'],
      value: [
        ...['price_before', 'price_after', 'change', 'high', 'low', 'ticks', micros('price_before_at')],
        micros('price_after_at'),
      ],
      from: `movers_between(${windowOf(secondHalf(times))})`,
    },
    spreads: {
      key: ['market'],
      value: ['min_spread', 'max_spread'],
      from: `spread_stats(window_seconds = ${UNTIL_NOW})`,
    },
    'spreads of a window': {
      key: ['market'],
      value: [
        ...['ticks', 'crossed_ticks', 'average_spread', 'median_spread', 'p90_spread', 'min_spread', 'max_spread'],
        ...['two_sided', 'seconds'],
      ],
      from: `spread_stats_between(${windowOf(secondHalf(times))})`,
    },
    'overround of events': {
      key: ['event'],
      value: [
        ...['markets', 'priced_markets', 'crossed_markets', 'sum_of_last', 'sum_of_bids', 'sum_of_asks'],
        ...['overround', 'underround'],
      ],
      from: 'event_overround',
    },
    volatility: {
      key: ['market'],
      value: [
        ...['changes', 'last_volatility', 'last_volatility_per_day', 'mid_changes', 'mid_volatility'],
        ...['mid_volatility_per_day', 'observed', 'missing'],
      ],
      from: `realised_volatility(period_seconds = ${STEP}, ${windowOf(times)})`,
    },
    'correlations of outcomes': {
      key: ['event', 'market', 'other_market'],
      value: ['changes', 'correlation'],
      from: `outcome_correlations(period_seconds = ${STEP}, ${windowOf(times)})`,
    },
    'times of arbitrage': {
      key: ['event', 'market', 'other_market', micros('begins_at')],
      value: [micros('ends_at'), 'seconds', 'max_profit', 'observed', 'missing'],
      from: `arbitrage_windows(${windowOf(times)})`,
    },
    'lives of markets': {
      key: ['market'],
      value: [
        ...['event', micros('first_price_at'), micros('first_trade_at'), micros('last_trade_at'), 'trades'],
        'final_chance',
      ],
      from: 'market_lifetimes',
    },
    'chance candles': {
      key: ['market', SECOND],
      value: ['open', 'high', 'low', 'close', 'points'],
      from: `chance_candles(period_seconds = ${SHORT})`,
    },
    'price impact': {
      key: ["if(market = '', 'all', market)", "replaceAll(delay, ' ', '')"],
      value: ['trades', 'unquoted_trades', 'impact_per_share', 'standard_error', 'intercept', 'r_squared'],
      // Those of 5 s first.
      from: `(${['market', 'all']
        .map((level) => `SELECT * FROM price_impact(level = '${level}', margin_ms = ${QUOTE_MARGIN_MS})`)
        .join(' UNION ALL ')}) ORDER BY delay DESC`,
    },
    'traders of a window': {
      key: ['market'],
      value: ['traders', 'trades', 'anonymous_trades'],
      from: `traders_between(level = 'market', ${windowOf(times)})`,
    },
    'leaders by volume': {
      key: ['scope', 'rank'],
      value: ['market', 'trades', 'shares', 'volume', 'share', 'vwap', 'traders'],
      from: `volume_leaders(window_seconds = ${UNTIL_NOW})`,
    },
    longshots: {
      key: ['role', 'cent'],
      value: ['markets', 'trades', 'yes_markets', 'no_markets', 'win_rate', 'yes_excess_return', 'no_excess_return'],
      from: "longshots WHERE basis = 'any'",
    },
    'profit by market at bid': {
      key: ['account', 'market'],
      value: ['yes_shares', 'no_shares', 'pairs', ...SUMS],
      from: "pnl_sums(level = 'market', price = 'bid')",
    },
    'profit by account at mid': { key: ['account'], value: SUMS, from: "pnl_sums(level = 'account', price = 'mid')" },
    'times of resolutions': {
      key: ['market'],
      value: ['toUnixTimestamp64Micro(known_at)'],
      from: "resolutions WHERE resolution != 'unresolved'",
    },
  }) satisfies Record<string, Question>;

/** The rows of each question. */
export type Figures = Readonly<Record<keyof ReturnType<typeof questionsOf>, readonly TextRow[]>>;

/**
 * Asks the views of figures.
 * @param times Unix seconds: the beginning of the recording, and the end of the last whole period
 * @param only of the questions; the others have no rows
 */
export async function readFigures(
  query: Query,
  times: { readonly from: number; readonly to: number },
  only?: readonly (keyof Figures)[],
): Promise<Figures> {
  const figures: Record<string, TextRow[]> = {};
  for (const [name, { key, value, from }] of Object.entries(questionsOf(times))) {
    const isAsked = only === undefined || only.some((one) => one === name);
    figures[name] = isAsked ? await readTexts(query, key, value, from) : [];
  }
  return figures as unknown as Figures;
}
