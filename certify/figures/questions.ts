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
/** How long before a trade its quote was received at least, the default of `trade_quotes`, milliseconds. */
export const QUOTE_MARGIN_MS = 250;
export const PRICE_KINDS = ['chance', 'mid', 'bid'] as const;
export type PriceKind = (typeof PRICE_KINDS)[number];

const SECOND = 'toUnixTimestamp(begins_at)';
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

/**
 * The questions, by the name of the comparison.
 * @param from and `to`: Unix seconds
 */
export const questionsOf = ({ from, to }: { readonly from: number; readonly to: number }) =>
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
      from: `time_weighted_prices(period_seconds = ${SHORT}, from_at = '${from}', to_at = '${to}')`,
    },
    'resampled prices': {
      key: ['market', 'toUnixTimestamp(sampled_at)'],
      value: ['last', 'bid', 'ask', 'mid', 'age_seconds', 'state'],
      from: `resampled_prices(period_seconds = ${SHORT}, from_at = '${from}', to_at = '${to}')`,
    },
    'latest prices': {
      key: ['market'],
      value: ['last', 'bid', 'ask', 'mid', 'spread', 'crossed'],
      from: 'latest_prices',
    },
    'chance candles': {
      key: ['market', SECOND],
      value: ['open', 'high', 'low', 'close', 'points'],
      from: `chance_candles(period_seconds = ${SHORT})`,
    },
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
