import { groupBy } from '../../core/index.js';
import type { LedgerMarket, LedgerPrice } from '../truth.js';
import { type BookPrices, worthOf } from './book-prices.js';
import { type AccountAsset, type Book, booksOf } from './books.js';
import type { PriceKind } from './questions.js';
import { periodOf } from './texts.js';

/** What an account has made with an asset at the end of a period, and of it in the period; millionths of USDC. */
export interface PeriodProfit {
  readonly account: string;
  readonly market: string;
  readonly asset: string;
  /** Begin, Unix seconds. */
  readonly period: number;
  readonly trades: bigint;
  /** Hundredths. */
  readonly shares: bigint;
  readonly price: bigint | null;
  readonly value: bigint | null;
  readonly cost: bigint;
  readonly fifoCost: bigint;
  readonly cashFlow: bigint;
  readonly payout: bigint;
  readonly fees: bigint;
  readonly realised: bigint;
  readonly fifoRealised: bigint;
  /** Since the last period with a known value; null when the value is unknown. */
  readonly pnl: bigint | null;
}

export interface ProfitInput {
  readonly assets: readonly AccountAsset[];
  readonly prices: BookPrices;
  /** When its shares were paid, Unix microseconds, by market. */
  readonly paidAt: ReadonlyMap<string, number>;
  /** When the final chance was received, Unix microseconds, by market. */
  readonly knownAt: ReadonlyMap<string, number>;
  readonly withTransactions: ReadonlySet<string>;
  /** The last moment, Unix microseconds. */
  readonly until: number;
}

/** When each resolved market got its final price, Unix microseconds. */
export function resolutionTimes(prices: readonly LedgerPrice[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { marketId, c, at } of prices) if ((c === 0 || c === 1) && !times.has(marketId)) times.set(marketId, at);
  return times;
}

/** The rows of every asset, from its first trade until it is settled, or until now while shares are held. */
export function profitsByPeriod(input: ProfitInput, seconds: number, kind: PriceKind): PeriodProfit[] {
  return input.assets.flatMap((asset) => profitsOf(asset, input, seconds, kind));
}

function profitsOf(asset: AccountAsset, input: ProfitInput, seconds: number, kind: PriceKind): PeriodProfit[] {
  const { account, market, outcome, trades } = asset;
  const books = booksOf(trades);
  const period = (micros: number) => periodOf(Math.floor(micros / 1_000_000), seconds);
  const steps = new Map(trades.map(({ at }, i) => [period(at * 1000), books[i] as Book]));
  const last = books.at(-1) as Book;
  const paidOutIn = settlementPeriod(asset, last, input, period);
  const lastTrade = Math.max(...steps.keys());
  const end = Math.max(lastTrade, paidOutIn ?? (last.shares === 0n ? 0 : period(input.until)));
  const rows: PeriodProfit[] = [];
  let before = { cashFlow: 0n, cost: 0n, fifoCost: 0n, fees: 0n, payout: 0n, trades: 0n };
  let known = 0n;
  let book: Book | undefined;
  for (let at = Math.min(...steps.keys()); at <= end; at += seconds) {
    book = steps.get(at) ?? book;
    if (book === undefined) continue;
    const isPaidOut = paidOutIn !== undefined && at >= paidOutIn;
    const shares = isPaidOut ? 0n : book.shares;
    const payout = isPaidOut ? (book.shares * paidPerShare(market, outcome)) / 100n : 0n;
    const [cost, fifoCost] = isPaidOut ? [0n, 0n] : [book.cost, book.fifoCost];
    const tick = input.prices.at(market.marketId, (at + seconds) * 1_000_000 - 1);
    const price = isPaidOut ? null : worthOf(tick, outcome, kind);
    const value = shares === 0n ? 0n : price === null ? null : (shares * price) / 100n;
    const cashFlow = book.sold - book.bought + payout;
    const total = value === null ? null : cashFlow + value - book.fees;
    rows.push({
      ...{ account, market: market.marketId, asset: asset.asset, period: at, trades: book.trades - before.trades },
      ...{ shares, price, value, cost, fifoCost, cashFlow: cashFlow - before.cashFlow, payout: payout - before.payout },
      fees: book.fees - before.fees,
      realised: cashFlow + cost - before.cashFlow - before.cost,
      fifoRealised: cashFlow + fifoCost - before.cashFlow - before.fifoCost,
      pnl: total === null ? null : total - known,
    });
    known = total ?? known;
    before = { cashFlow, cost, fifoCost, fees: book.fees, payout, trades: book.trades };
  }
  return rows;
}

/** When it was paid out; an account that held nothing then, or whose transactions are not read, knows it from the final chance. */
function settlementPeriod(
  { account, market: { marketId, resolved } }: AccountAsset,
  last: Book,
  { paidAt, knownAt, withTransactions, until }: ProfitInput,
  period: (micros: number) => number,
): number | undefined {
  if (resolved === null) return undefined;
  const isPaid = last.shares !== 0n && withTransactions.has(account);
  const at = isPaid ? paidAt.get(marketId) : knownAt.get(marketId);
  // A settlement of unknown time counts as of now.
  return period(at === undefined || Number.isNaN(at) ? until : Math.floor(at / 1000) * 1000);
}

/** Millionths of USDC that a share of a resolved market pays. */
function paidPerShare({ resolved }: LedgerMarket, outcome: 'YES' | 'NO'): bigint {
  if (resolved === 'VOID') return 500_000n;
  return resolved === outcome ? 1_000_000n : 0n;
}

/** The sums of all assets of an account at the end of a period. */
export interface AccountPeriod {
  readonly account: string;
  readonly period: number;
  readonly trades: bigint;
  readonly cost: bigint;
  readonly value: bigint | null;
  /** Held assets without a known price. */
  readonly unpriced: number;
  readonly realised: bigint;
  readonly fifoRealised: bigint;
  readonly cashFlow: bigint;
  readonly fees: bigint;
  readonly pnl: bigint | null;
  readonly equity: bigint | null;
  readonly drawdown: bigint | null;
}

const sum = <T>(rows: readonly T[], of: (row: T) => bigint): bigint => rows.reduce((total, row) => total + of(row), 0n);

export function equityCurves(profits: readonly PeriodProfit[]): AccountPeriod[] {
  return [...groupBy(profits, ({ account }) => account)].flatMap(([account, own]) => {
    let [known, added, highest] = [0n, 0n, 0n];
    const periods = [...groupBy(own, ({ period }) => period)].sort(([x], [y]) => x - y);
    return periods.map(([period, rows]): AccountPeriod => {
      const unpriced = rows.filter(({ value }) => value === null).length;
      added += sum(rows, ({ pnl }) => pnl ?? 0n);
      const equity = unpriced > 0 ? null : added;
      const pnl = equity === null ? null : equity - known;
      known = equity ?? known;
      if (known > highest) highest = known;
      return {
        ...{ account, period, unpriced, equity, pnl, trades: sum(rows, ({ trades }) => trades) },
        cost: sum(rows, ({ cost }) => cost),
        value: unpriced > 0 ? null : sum(rows, ({ value }) => value ?? 0n),
        realised: sum(rows, ({ realised }) => realised),
        fifoRealised: sum(rows, ({ fifoRealised }) => fifoRealised),
        cashFlow: sum(rows, ({ cashFlow }) => cashFlow),
        fees: sum(rows, ({ fees }) => fees),
        drawdown: equity === null ? null : highest - equity,
      };
    });
  });
}

/** How well an account traded. */
export interface Performance {
  readonly account: string;
  readonly firstPeriod: number;
  readonly trades: bigint;
  readonly pnl: bigint | null;
  readonly unpriced: number;
  readonly unpricedPeriods: number;
  readonly maxDrawdown: bigint | null;
  readonly maxCapital: bigint;
  readonly closedMarkets: number;
  readonly wonMarkets: number;
}

export function performances(profits: readonly PeriodProfit[], curves: readonly AccountPeriod[]): Performance[] {
  const markets = groupBy(profits, ({ account }) => account);
  return [...groupBy(curves, ({ account }) => account)].map(([account, curve]) => {
    const closed = [...groupBy(markets.get(account) ?? [], ({ market }) => market).values()].filter((rows) =>
      [...groupBy(rows, ({ asset }) => asset).values()].every((own) => own.at(-1)?.shares === 0n),
    );
    const { equity = null, unpriced = 0 } = curve.at(-1) ?? {};
    const most = (of: (row: AccountPeriod) => bigint) =>
      curve.reduce((max, row) => (of(row) > max ? of(row) : max), 0n);
    return {
      ...{
        account,
        firstPeriod: curve[0]?.period ?? 0,
        trades: sum(curve, ({ trades }) => trades),
        pnl: equity,
        unpriced,
      },
      unpricedPeriods: curve.filter((row) => row.unpriced > 0).length,
      maxDrawdown: unpriced > 0 ? null : most(({ drawdown }) => drawdown ?? 0n),
      maxCapital: most(({ cost }) => cost),
      closedMarkets: closed.length,
      wonMarkets: closed.filter((rows) => sum(rows, ({ cashFlow, fees }) => cashFlow - fees) > 0n).length,
    };
  });
}

/** Profit or loss of an account in an asset until now, as its books and its settlement say. */
export interface Profit {
  readonly account: string;
  readonly event: string;
  readonly market: string;
  readonly asset: string;
  readonly outcome: 'YES' | 'NO';
  readonly isPaidOut: boolean;
  readonly book: Book;
  /** Hundredths that are still held. */
  readonly shares: bigint;
  readonly payout: bigint;
  readonly cost: bigint;
  readonly fifoCost: bigint;
  readonly price: bigint | null;
  readonly value: bigint | null;
}

/** @param priceOf of a share of an outcome of an unresolved market, millionths of USDC */
export function presentProfits(
  assets: readonly AccountAsset[],
  priceOf: (market: string, outcome: 'YES' | 'NO') => bigint | null,
): Profit[] {
  return assets.map(({ account, asset, outcome, market, trades }) => {
    const { marketId, eventId, resolved } = market;
    const book = booksOf(trades).at(-1) as Book;
    const isPaidOut = resolved !== null;
    const shares = isPaidOut ? 0n : book.shares;
    const paid = paidPerShare(market, outcome);
    const price = isPaidOut ? paid : priceOf(marketId, outcome);
    return {
      ...{ account, event: eventId, market: marketId, asset, outcome, isPaidOut, book, shares, price },
      payout: isPaidOut ? (book.shares * paid) / 100n : 0n,
      cost: isPaidOut ? 0n : book.cost,
      fifoCost: isPaidOut ? 0n : book.fifoCost,
      value: shares === 0n ? 0n : price === null ? null : (shares * price) / 100n,
    };
  });
}

/** Sums of profits. */
export interface ProfitSums {
  readonly yesShares: bigint;
  readonly noShares: bigint;
  readonly trades: bigint;
  readonly bought: bigint;
  readonly sold: bigint;
  readonly payout: bigint;
  readonly fees: bigint;
  readonly cost: bigint;
  readonly fifoCost: bigint;
  readonly value: bigint | null;
}

export function sumsOf(profits: readonly Profit[]): ProfitSums {
  const shares = (wanted: 'YES' | 'NO') => sum(profits, (one) => (one.outcome === wanted ? one.shares : 0n));
  return {
    ...{ yesShares: shares('YES'), noShares: shares('NO'), trades: sum(profits, ({ book }) => book.trades) },
    bought: sum(profits, ({ book }) => book.bought),
    sold: sum(profits, ({ book }) => book.sold),
    payout: sum(profits, ({ payout }) => payout),
    fees: sum(profits, ({ book }) => book.fees),
    cost: sum(profits, ({ cost }) => cost),
    fifoCost: sum(profits, ({ fifoCost }) => fifoCost),
    value: profits.some(({ value }) => value === null) ? null : sum(profits, ({ value }) => value ?? 0n),
  };
}
