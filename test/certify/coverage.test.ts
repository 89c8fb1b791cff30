import { describe, expect, it } from 'vitest';
import { compareCandles } from '../../certify/compare/candles.js';
import { type CoverageInput, compareCoverage } from '../../certify/compare/coverage.js';
import { comparePrices } from '../../certify/compare/prices.js';
import { prices, SECOND, START, streamsOf } from './ledger-data.js';

const truth = prices();
const KILLED_AT = START + 10 * SECOND;
/** The collector was killed at the tenth second; the next one observed the event again two seconds later. */
const DOWN = { begins: KILLED_AT - 20_000, ends: KILLED_AT + 2 * SECOND };
const rangeOf = (stream: string, begins: number, ends: number) => ({ stream, event: 'e', begins, ends });
const onBoth = <T>(make: (stream: string) => T[]): T[] => ['order-book', 'chance'].flatMap(make);

const lost = truth.filter(({ at }) => at > KILLED_AT && at < DOWN.ends);
const streamOf = (stream: 'order-book' | 'chance') => ({ stream, changes: truth, lost, maxTransit: 2000 });

const sound: CoverageInput = {
  prices: truth,
  streams: [streamOf('order-book'), streamOf('chance')],
  recorded: {
    observed: onBoth((stream) => [
      rangeOf(stream, START - SECOND, DOWN.begins),
      rangeOf(stream, DOWN.ends, START + 30 * SECOND),
    ]),
    gaps: onBoth((stream) => [{ ...rangeOf(stream, DOWN.begins, DOWN.ends), cause: 'no further heartbeat' }]),
  },
  kills: [{ service: 'collect', at: KILLED_AT, downUntil: KILLED_AT + 1_500_000 }],
  recordedFrom: START,
};
const unexplained = (change: Partial<CoverageInput['recorded']>) =>
  compareCoverage({ ...sound, recorded: { ...sound.recorded, ...change } }).map((one) => one.unexplained);

describe('the comparison of coverage with what was received', () => {
  it('accepts gaps that cover what was lost, and nothing else', () => {
    expect(compareCoverage(sound).map(({ expected, found, unexplained: left }) => [expected, found, left])).toEqual([
      // The tenth to twelfth second are not whole seconds of an observed range.
      [32, 32, 0],
      [4, 4, 0],
      [2, 2, 0],
    ]);
  });

  it('finds a removed gap', () => {
    expect(unexplained({ gaps: [] })).toEqual([0, 4, 2]);
  });

  it('finds a gap that ends before the killed process was started again', () => {
    const short = { ...DOWN, ends: KILLED_AT + 1_200_000 };
    const gaps = onBoth((stream) => [{ ...rangeOf(stream, short.begins, short.ends), cause: 'no further heartbeat' }]);
    expect(unexplained({ gaps })).toEqual([0, 0, 2]);
  });

  it('finds lost changes of one stream that only the other has in a gap', () => {
    expect(unexplained({ gaps: sound.recorded.gaps.filter(({ stream }) => stream === 'chance') })).toEqual([0, 2, 1]);
  });

  it('finds time that is called observed and was not', () => {
    const observed = onBoth((stream) => [rangeOf(stream, START - SECOND, START + 30 * SECOND)]);
    expect(unexplained({ observed, gaps: [] })).toEqual([4, 4, 2]);
  });
});

describe('the comparison of candles with the ledger', () => {
  const { ticks } = streamsOf(truth);
  const { shown } = comparePrices({
    prices: truth,
    openingChances: new Map(),
    recorded: streamsOf(truth),
    faults: [],
    recordedFrom: START,
  });
  const first = ticks.filter(({ market, receivedAt }) => market === 'm0' && receivedAt < START + 10 * SECOND);
  const side = (price: number | null | undefined) => String(price ?? 'NULL');
  const lasts = first.map(({ last }) => last);
  const [from, to] = [first[0], first.at(-1)];
  const text = [
    from?.last,
    Math.max(...lasts),
    Math.min(...lasts),
    to?.last,
    side(to?.bid),
    side(to?.ask),
    first.length,
  ];
  const candle = { key: ['m0', String(START / SECOND)], value: text.map(String) };
  /** The first example about the first candle of m0. */
  const exampleOf = (row: typeof candle) =>
    compareCandles(shown, [row], 10, START + 60 * SECOND).examples.find((line) =>
      line.startsWith(`m0 ${START / SECOND}:`),
    );

  it('computes open, high, low, close, bid, ask and the number of ticks', () => {
    expect(exampleOf(candle)).toBeUndefined();
    expect(compareCandles(shown, [candle], 10, START + 60 * SECOND)).toMatchObject({ expected: 4, unexplained: 3 });
    // Only the first period is over.
    expect(compareCandles(shown, [candle], 10, START + 15 * SECOND)).toMatchObject({ expected: 2, unexplained: 1 });
  });

  it.each([0, 1, 2, 3, 4, 5, 6])('finds a wrong value in column %i', (column) => {
    expect(exampleOf({ ...candle, value: candle.value.with(column, '0.123') })).toContain('0.123');
  });
});
