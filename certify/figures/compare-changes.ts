import { groupBy } from '../../core/index.js';
import type { Comparison, KeyedRow } from '../comparison.js';
import { bidOf, isResult, midOf } from './book-prices.js';
import type { FiguresInput } from './input.js';
import { STEP } from './questions.js';
import { type Sample, samplesOf } from './samples.js';
import { compareFigureRows, figure, keyedRows, sameFigure } from './texts.js';

const SECOND = 1_000_000;
const DAY = 86_400;
const MIN_CHANGES = 3;

/** How prices change over time, those of two markets of an event together, and when two add up to more than 1. */
export const compareChanges = (input: FiguresInput): Comparison[] => {
  const samples = new Map([...input.prices.markets].map((market) => [market, samplesOf(input, market, STEP)]));
  return [compareVolatility(input, samples), compareCorrelations(input, samples), compareArbitrage(input)];
};

type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Millionths: differences of them are exact. */
const unitsOf = (price: number): number => Math.round(price * 1e6);

/** Between successive samples that are both observed. */
const stepsOf = (samples: readonly Sample[]): (readonly [before: Sample, after: Sample])[] =>
  samples.flatMap((after, i) => {
    const before = samples[i - 1];
    return before?.isObserved && after.isObserved ? [[before, after] as const] : [];
  });

function compareVolatility({ figures }: FiguresInput, samples: Samples): Comparison {
  const expected = [...samples].flatMap(([market, own]): KeyedRow[] => {
    if (own.length === 0) return [];
    const steps = stepsOf(own).map(([{ tick: before }, { tick: after }]) => [before, after] as const);
    const lasts = steps.map(([before, after]) => unitsOf(after.price.c) - unitsOf(before.price.c));
    const mids = steps.flatMap(([before, after]) => {
      const [first, second] = [midOf(before), midOf(after)];
      return first === null || second === null ? [] : [unitsOf(second) - unitsOf(first)];
    });
    const observed = own.filter(({ isObserved }) => isObserved).length / own.length;
    return [
      [
        market,
        [lasts, mids]
          .flatMap((changes) => [changes.length, ...volatilities(changes)])
          .concat([figure(observed), figure(1 - observed)])
          .join(' '),
      ],
    ];
  });
  const how = Object.fromEntries([1, 2, 4, 5, 6, 7].map((column) => [column, sameFigure]));
  return compareFigureRows('volatility', expected, keyedRows(figures.volatility, how));
}

/** Over all changes, and scaled to a day. */
function volatilities(changes: readonly number[]): [string, string] {
  if (changes.length === 0) return [figure(null), figure(null)];
  const squares = changes.reduce((sum, change) => sum + change * change, 0);
  const perDay = DAY / (changes.length * STEP);
  return [figure(Math.sqrt(squares) / 1e6), figure(Math.sqrt(squares * perDay) / 1e6)];
}

function compareCorrelations({ figures, events }: FiguresInput, samples: Samples): Comparison {
  const changes = new Map(
    [...samples].map(([market, own]) => [
      market,
      new Map(
        stepsOf(own).map(([before, after]) => [after.at, unitsOf(after.tick.price.c) - unitsOf(before.tick.price.c)]),
      ),
    ]),
  );
  const expected = pairsOf(changes.keys(), events).flatMap(([event, market, other]): KeyedRow[] => {
    const others = changes.get(other);
    const common = [...(changes.get(market) ?? [])].flatMap(([at, change]) => {
      const also = others?.get(at);
      return also === undefined ? [] : [[change, also] as const];
    });
    if (common.length === 0) return [];
    return [[`${event} ${market} ${other}`, `${common.length} ${figure(correlationOf(common))}`]];
  });
  const found = keyedRows(figures['correlations of outcomes'], { 1: sameFigure });
  return compareFigureRows('correlations of outcomes', expected, found);
}

/** Every two markets of an event, the smaller ID first. */
function pairsOf(
  markets: Iterable<string>,
  events: ReadonlyMap<string, string>,
): (readonly [event: string, market: string, other: string])[] {
  return [...groupBy([...markets], (market) => events.get(market) ?? '')].flatMap(([event, own]) => {
    const sorted = own.toSorted((x, y) => (x < y ? -1 : 1));
    return sorted.flatMap((market, i) => sorted.slice(i + 1).map((other) => [event, market, other] as const));
  });
}

/** Pearson's, from the deviations from both means; null with too few changes, or without a deviation. */
function correlationOf(changes: readonly (readonly [number, number])[]): number | null {
  const n = changes.length;
  if (n < MIN_CHANGES) return null;
  const mean = (of: 0 | 1) => changes.reduce((sum, pair) => sum + pair[of], 0) / n;
  const [x, y] = [mean(0), mean(1)];
  const sum = (of: (pair: readonly [number, number]) => number) => changes.reduce((total, pair) => total + of(pair), 0);
  const [xx, yy] = [sum(([one]) => (one - x) ** 2), sum(([, other]) => (other - y) ** 2)];
  return xx === 0 || yy === 0 ? null : sum(([one, other]) => (one - x) * (other - y)) / Math.sqrt(xx * yy);
}

/** A time in which the bids of two markets add up to more than 1. */
interface Arbitrage {
  /** Unix microseconds. */
  readonly begins: number;
  ends: number;
  /** Millionths. */
  profit: number;
}

function compareArbitrage(input: FiguresInput): Comparison {
  const { figures, events, observed, prices } = input;
  const expected = pairsOf(prices.markets, events).flatMap(([event, market, other]) =>
    arbitragesOf(input, market, other).map(({ begins, ends, profit }): KeyedRow => {
      const share = observed.within(event, begins, ends) / (ends - begins);
      return [
        `${event} ${market} ${other} ${begins}`,
        [ends, figure((ends - begins) / SECOND), figure(profit / 1e6), figure(share), figure(1 - share)].join(' '),
      ];
    }),
  );
  const how = { 1: sameFigure, 2: sameFigure, 3: sameFigure, 4: sameFigure };
  return compareFigureRows('times of arbitrage', expected, keyedRows(figures['times of arbitrage'], how));
}

/** Looks at the two books whenever one of them changed. */
function arbitragesOf({ prices, times }: FiguresInput, market: string, other: string): Arbitrage[] {
  const [from, to] = [times.from * SECOND, times.to * SECOND];
  const changed = [market, other].flatMap((one) => prices.of(one).map(({ receivedAt }) => receivedAt));
  const moments = [...new Set([from, ...changed.filter((at) => at > from && at < to)])].sort((x, y) => x - y);
  const found: Arbitrage[] = [];
  for (const [i, begins] of moments.entries()) {
    const profit = bidAt(prices.at(market, begins)) + bidAt(prices.at(other, begins)) - 1_000_000;
    if (profit <= 0) continue;
    const ends = moments[i + 1] ?? to;
    const last = found.at(-1);
    if (last?.ends === begins) Object.assign(last, { ends, profit: Math.max(last.profit, profit) });
    else found.push({ begins, ends, profit });
  }
  return found;
}

/** Millionths; 0 where there is none, or the book is crossed. */
function bidAt(tick: Parameters<typeof bidOf>[0] | undefined): number {
  const bid = tick === undefined ? null : bidOf(tick);
  if (tick === undefined || bid === null || tick.price.b > tick.price.a || isResult(tick)) return 0;
  return unitsOf(bid);
}
