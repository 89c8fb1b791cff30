import { groupBy } from '../../core/index.js';
import type { Comparison, KeyedRow } from '../comparison.js';
import type { LedgerPrice } from '../truth.js';
import type { FiguresInput } from './input.js';
import { SHORT } from './questions.js';
import { compareFigureRows, figure, keyedRows, periodOf, sameFigure } from './texts.js';

const SECOND = 1_000_000;
const PERIOD = SHORT * SECOND;
/** A fault changes the order of messages about an event within this time. */
const REORDERED_MICROS = 2 * SECOND;

/**
 * Candles of the chance, in periods whose changes were all received as they happened. For other periods, history has the last chance
 * of each second, which is compared by the second.
 */
export function compareChanceCandles(input: FiguresInput): Comparison {
  const { figures, chances, gaps, faults, recordedFrom, closedAt, events, openingChances } = input;
  const begun = Math.ceil(recordedFrom / PERIOD) * PERIOD;
  const missed = new Set(chances.missed.map(({ marketId, at }) => `${marketId} ${periodOf(at, PERIOD)}`));
  const disturbed = groupBy(
    [
      ...gaps.filter(({ stream }) => stream === 'chance'),
      ...faults
        .filter(({ stream, kind }) => stream === 'chance' && kind === 'reorder-deltas')
        .map(({ eventId = '', at }) => ({
          event: eventId,
          begins: at - REORDERED_MICROS,
          ends: at + REORDERED_MICROS,
        })),
    ],
    ({ event }) => event,
  );
  const isCompared = ([key]: KeyedRow): boolean => {
    const [market = '', second] = key.split(' ');
    const at = Number(second) * SECOND;
    if (at < begun || at + PERIOD > closedAt || missed.has(`${market} ${at}`)) return false;
    return !disturbed.get(events.get(market) ?? '')?.some(({ begins, ends }) => begins < at + PERIOD && ends > at);
  };
  const expected = candlesOf(chances.changes);
  // The first known chance of a market is that with which it opened, and no change.
  const first = new Map<string, number>();
  for (const [key] of expected) {
    const [market = '', second] = key.split(' ');
    first.set(market, Math.min(Number(second), first.get(market) ?? Number.POSITIVE_INFINITY));
  }
  const isOpening = ([key]: KeyedRow): boolean => {
    const [market = '', second] = key.split(' ');
    return Number(second) <= (first.get(market) ?? Number.POSITIVE_INFINITY);
  };
  const found = keyedRows(figures['chance candles'], { 0: sameFigure, 1: sameFigure, 2: sameFigure, 3: sameFigure });
  const openings = found.filter((row) => isOpening(row) && isCompared(row));
  const wanted = new Map(expected);
  const openingText = ([key]: KeyedRow): KeyedRow => {
    const market = key.split(' ')[0] ?? '';
    const opened = figure(openingChances.get(market) ?? null);
    const change = wanted.get(key);
    if (change === undefined) return [key, `${opened} ${opened} ${opened} ${opened} 0`];
    const [, high = 0, low = 0, close, points] = change.split(' ').map((text) => Number(text.replace('~', '')));
    return [
      key,
      `${opened} ${figure(Math.max(high, openingChances.get(market) ?? 0))} ${figure(Math.min(low, openingChances.get(market) ?? 0))} ${figure(close ?? 0)} ${points}`,
    ];
  };
  const opened = openings.map(openingText);
  const isOpened = new Map(opened);
  const value = new Map(found);
  const rows = expected.map(([key, text]): KeyedRow => {
    // Whether the chance with which the market opened is in its first period depends on when it opened.
    const alternative = isOpened.get(key);
    return [key, alternative !== undefined && alternative === value.get(key) ? alternative : text];
  });
  const extra = opened.filter(([key]) => !wanted.has(key));
  return compareFigureRows('chance candles', [...rows, ...extra].filter(isCompared), found.filter(isCompared));
}

function candlesOf(changes: readonly LedgerPrice[]): KeyedRow[] {
  return [...groupBy(changes, ({ marketId, at }) => `${marketId} ${periodOf(at, PERIOD) / SECOND}`)].map(
    ([key, own]) => {
      const values = own.map(({ c }) => c);
      const four = [values[0] ?? 0, Math.max(...values), Math.min(...values), values.at(-1) ?? 0];
      return [key, [...four.map(figure), own.length].join(' ')];
    },
  );
}
