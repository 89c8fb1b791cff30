import { groupBy } from '../../core/index.js';
import type { ShownPrice } from '../compare/prices.js';
import type { Comparison, KeyedRow } from '../comparison.js';
import { askOf, bidOf, isResult } from './book-prices.js';
import type { FiguresInput } from './input.js';
import { secondHalf } from './questions.js';
import { compareFigureRows, figure, keyedRows, sameFigure } from './texts.js';

const SECOND = 1_000_000;

/** What order books cost and how prices moved, over a window and until now, and over all markets of an event. */
export const compareBooks = (input: FiguresInput): Comparison[] => {
  const { from, to } = secondHalf(input.times);
  const half = { from: from * SECOND, to: to * SECOND };
  const whole = { from: 0, to: Number.POSITIVE_INFINITY };
  return [
    compareMovers(input, 'movers', whole),
    compareMovers(input, 'movers of a window', half),
    compareSpreads(input, half),
    compareExtremes(input),
    compareOverround(input),
  ];
};

/** After `from`, up to `to`; Unix microseconds. */
interface Window {
  readonly from: number;
  readonly to: number;
}

/** @returns rows of the markets with a tick of a trade price in the window */
function compareMovers(
  { prices, figures }: FiguresInput,
  name: 'movers' | 'movers of a window',
  { from, to }: Window,
): Comparison {
  const isWhole = name === 'movers';
  const expected = [...prices.markets].flatMap((market): KeyedRow[] => {
    const ticks = prices.of(market).filter((tick) => tick.receivedAt <= to && !isResult(tick));
    const inside = ticks.filter(({ receivedAt }) => receivedAt > from);
    const last = inside.at(-1);
    const before = ticks.findLast(({ receivedAt }) => receivedAt <= from) ?? inside[0];
    if (last === undefined || before === undefined) return [];
    const lasts = inside.map(({ price }) => price.c);
    const values = [
      before.price.c,
      last.price.c,
      last.price.c - before.price.c,
      Math.max(...lasts),
      Math.min(...lasts),
    ];
    // Until now, audits add states of the order book.
    const ofWindow = isWhole ? [before.receivedAt] : [inside.length, before.receivedAt, last.receivedAt];
    return [[market, [...values.map(figure), ...ofWindow].join(' ')]];
  });
  const how = { 0: sameFigure, 1: sameFigure, 2: sameFigure, 3: sameFigure, 4: sameFigure };
  return compareFigureRows(name, expected, keyedRows(figures[name], how));
}

/** Null where a side is empty, or the book is crossed. */
const spreadOf = (tick: ShownPrice): number | null => {
  const [bid, ask] = [bidOf(tick), askOf(tick)];
  return bid === null || ask === null || bid > ask ? null : ask - bid;
};

function compareSpreads({ prices, observed, events, figures }: FiguresInput, { from, to }: Window): Comparison {
  const expected = [...prices.markets].flatMap((market): KeyedRow[] => {
    const ticks = prices.of(market).filter(({ receivedAt }) => receivedAt > from && receivedAt <= to);
    const books = ticks
      .map((tick, i) => ({
        tick,
        spread: spreadOf(tick),
        // A tick that another one follows at once lasts no time.
        micros: observed.within(events.get(market) ?? '', tick.receivedAt, ticks[i + 1]?.receivedAt ?? to),
      }))
      .filter(({ tick }) => !isResult(tick));
    if (books.length === 0) return [];
    const tight = books.flatMap(({ spread, micros }) => (spread === null ? [] : [{ spread, micros }]));
    const sum = (own: readonly { readonly micros: number }[]) => own.reduce((total, { micros }) => total + micros, 0);
    const [all, ofSpreads] = [sum(books), sum(tight)];
    const average = tight.reduce((total, { spread, micros }) => total + spread * micros, 0) / ofSpreads;
    const hasBoth = books.filter(({ tick }) => bidOf(tick) !== null && askOf(tick) !== null);
    return [
      [
        market,
        [
          ...[books.length, books.filter(({ tick: { price } }) => price.b > price.a).length],
          ...[average, quantileOf(tight, 5), quantileOf(tight, 9)].map((one) => figure(ofSpreads === 0 ? null : one)),
          ...extremesOf(tight),
          ...[figure(all === 0 ? null : sum(hasBoth) / all), figure(all / SECOND)],
        ].join(' '),
      ],
    ];
  });
  const how = Object.fromEntries([2, 3, 4, 5, 6, 7, 8].map((column) => [column, sameFigure]));
  return compareFigureRows('spreads of a window', expected, keyedRows(figures['spreads of a window'], how));
}

const extremesOf = (tight: readonly { readonly spread: number }[]): string[] => {
  const spreads = tight.map(({ spread }) => spread);
  return spreads.length === 0
    ? [figure(null), figure(null)]
    : [figure(Math.min(...spreads)), figure(Math.max(...spreads))];
};

/** The smallest spread that was not exceeded for that part of the time, in tenths. */
function quantileOf(tight: readonly { readonly spread: number; readonly micros: number }[], tenths: number): number {
  const sorted = tight.filter(({ micros }) => micros > 0).sort((x, y) => x.spread - y.spread);
  const total = sorted.reduce((sum, { micros }) => sum + micros, 0);
  let passed = 0;
  for (const { spread, micros } of sorted) {
    passed += micros;
    if (passed * 10 >= total * tenths) return spread;
  }
  return Number.NaN;
}

function compareExtremes({ prices, figures }: FiguresInput): Comparison {
  const expected = [...prices.markets].flatMap((market): KeyedRow[] => {
    const ticks = prices.of(market).filter((tick) => !isResult(tick));
    const tight = ticks.map((tick) => ({ spread: spreadOf(tick) })).filter(isTight);
    return ticks.length === 0 ? [] : [[market, extremesOf(tight).join(' ')]];
  });
  return compareFigureRows('spreads', expected, keyedRows(figures.spreads, { 0: sameFigure, 1: sameFigure }));
}

const isTight = (one: { readonly spread: number | null }): one is { readonly spread: number } => one.spread !== null;

/** Of events with a market that is not resolved: the others are not listed any more. */
function compareOverround({ ledger, prices, figures }: FiguresInput): Comparison {
  const expected = [...groupBy(ledger.markets, ({ eventId }) => eventId)].flatMap(([event, own]): KeyedRow[] => {
    const ticks = own.flatMap(({ marketId }) => prices.of(marketId).slice(-1));
    if (own.every(({ resolved }) => resolved !== null) || ticks.length === 0) return [];
    const crossed = ticks.filter(({ price: { b, a } }) => b > a).length;
    const sum = (of: (tick: ShownPrice) => number | null): number | null =>
      crossed > 0 || ticks.length < own.length || ticks.some((tick) => of(tick) === null)
        ? null
        : ticks.reduce((total, tick) => total + (of(tick) ?? 0), 0);
    const [bids, asks] = [sum(bidOf), sum(askOf)];
    // In an event with one market, YES and NO are bought; NO costs 1 minus the bid.
    const [above, below] = own.length === 1 ? [bids, asks] : [1, 1];
    return [
      [
        event,
        [
          ...[own.length, ticks.length, crossed, figure(ticks.reduce((total, { price }) => total + price.c, 0))],
          ...[bids, asks, asks === null || above === null ? null : asks - above].map(figure),
          figure(bids === null || below === null ? null : below - bids),
        ].join(' '),
      ],
    ];
  });
  const how = Object.fromEntries([3, 4, 5, 6, 7].map((column) => [column, sameFigure]));
  return compareFigureRows('overround of events', expected, keyedRows(figures['overround of events'], how));
}
