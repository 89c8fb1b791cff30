import type { Comparison, KeyedRow } from '../comparison.js';
import { askOf, bidOf, isResult, midOf } from './book-prices.js';
import type { FiguresInput } from './input.js';
import { SHORT } from './questions.js';
import { samplesOf } from './samples.js';
import { compareFigureRows, figure, keyedRows, periodOf, sameFigure } from './texts.js';

const SECOND = 1_000_000;
const PERIOD = SHORT * SECOND;

/** Averages of prices over time, and prices at fixed times. */
export const compareAverages = (input: FiguresInput): Comparison[] => [
  compareTimeWeighted(input),
  compareSamples(input),
  compareLatest(input),
];

interface Sums {
  last: number;
  mid: number;
  micros: number;
  midMicros: number;
}

function compareTimeWeighted({ prices, observed, events, figures, times }: FiguresInput): Comparison {
  const [from, to] = [Math.ceil(times.from / SHORT) * PERIOD, times.to * SECOND];
  const expected = [...prices.markets].flatMap((market) => {
    const ticks = prices.of(market);
    const sums = new Map<number, Sums>();
    for (const [i, tick] of ticks.entries()) {
      if (isResult(tick)) continue;
      const begins = tick.receivedAt;
      const ends = ticks[i + 1]?.receivedAt ?? Number.POSITIVE_INFINITY;
      const first = Math.max(periodOf(begins, PERIOD), from);
      const until = Math.min(Math.ceil(ends / SECOND) * SECOND, to);
      for (let at = first; at < until; at += PERIOD) {
        const weight = observed.within(events.get(market) ?? '', Math.max(begins, at), Math.min(ends, at + PERIOD));
        const own = sums.get(at) ?? { last: 0, mid: 0, micros: 0, midMicros: 0 };
        const mid = midOf(tick);
        own.micros += weight;
        own.last += tick.price.c * weight;
        own.midMicros += mid === null ? 0 : weight;
        own.mid += (mid ?? 0) * weight;
        sums.set(at, own);
      }
    }
    return [...sums].map(([at, { last, mid, micros, midMicros }]): KeyedRow => {
      const averages = [micros === 0 ? null : last / micros, midMicros === 0 ? null : mid / midMicros];
      return [
        `${market} ${at / SECOND}`,
        [...averages, midMicros / 1e6, Math.min(1, micros / PERIOD)].map(figure).join(' '),
      ];
    });
  });
  const how = { 0: sameFigure, 1: sameFigure, 2: sameFigure, 3: sameFigure };
  return compareFigureRows('time-weighted prices', expected, keyedRows(figures['time-weighted prices'], how));
}

function compareSamples(input: FiguresInput): Comparison {
  const { prices, figures } = input;
  const expected = [...prices.markets].flatMap((market) => {
    return samplesOf(input, market, SHORT).map(({ at, tick, isObserved }): KeyedRow => {
      const values = [tick.price.c, bidOf(tick), askOf(tick), midOf(tick), (at - tick.receivedAt) / SECOND].map(figure);
      return [`${market} ${at / SECOND}`, [...values, isObserved ? 'observed' : 'missing'].join(' ')];
    });
  });
  const how = { 0: sameFigure, 1: sameFigure, 2: sameFigure, 3: sameFigure, 4: sameFigure };
  return compareFigureRows('resampled prices', expected, keyedRows(figures['resampled prices'], how));
}

function compareLatest({ prices, figures }: FiguresInput): Comparison {
  const expected = [...prices.markets].map((market): KeyedRow => {
    const tick = prices.of(market).at(-1);
    if (tick === undefined) return [market, ''];
    const [bid, ask, mid] = [bidOf(tick), askOf(tick), midOf(tick)];
    const isCrossed = bid !== null && ask !== null && bid > ask;
    const spread = mid === null || bid === null || ask === null ? null : ask - bid;
    return [market, [...[tick.price.c, bid, ask, mid, spread].map(figure), isCrossed].join(' ')];
  });
  const how = { 0: sameFigure, 1: sameFigure, 2: sameFigure, 3: sameFigure, 4: sameFigure };
  return compareFigureRows('latest prices', expected, keyedRows(figures['latest prices'], how));
}
