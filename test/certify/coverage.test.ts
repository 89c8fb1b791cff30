import { describe, expect, it } from 'vitest';
import { compareCandles } from '../../certify/compare/candles.js';
import { type CoverageInput, compareCoverage } from '../../certify/compare/coverage.js';
import { compareMissing, type MissingInput } from '../../certify/compare/missing.js';
import { comparePrices } from '../../certify/compare/prices.js';
import { prices, SECOND, START, streamsOf } from './ledger-data.js';

const truth = prices();
const KILLED_AT = START + 10 * SECOND;
/** The collector was killed at the tenth second; the next one observed the event again two seconds later. */
const DOWN = { begins: KILLED_AT - 20_000, ends: KILLED_AT + 2 * SECOND };
const rangeOf = (stream: string, begins: number, ends: number) => ({ stream, event: 'e', begins, ends });
const onBoth = <T>(make: (stream: string) => T[]): T[] => ['order-book', 'chance'].flatMap(make);

const lost = truth.filter(({ at }) => at > KILLED_AT && at < DOWN.ends);
const streamOf = (stream: 'order-book' | 'chance') => ({
  ...{ stream, changes: truth, lost, missed: lost, maxTransit: 2000 },
});

const sound: MissingInput = {
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
  faults: [],
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

describe('the comparison of what is called missing with what was lost', () => {
  const outcomes = (change: Partial<MissingInput>) =>
    compareMissing({ ...sound, ...change }).map(({ expected, found, explained, unexplained: left }) => ({
      ...{ expected, found, left },
      by: explained.map(({ by, count }) => `${count} ${by}`),
    }));
  const withGap = (cause: string, state: string, begins = START + 4 * SECOND, ends = START + 8 * SECOND) => ({
    recorded: {
      ...sound.recorded,
      gaps: [...sound.recorded.gaps, { ...rangeOf('order-book', begins, ends), cause, state }],
    },
  });

  it('accepts gaps with a kill in them in which every second has lost changes', () => {
    expect(outcomes({})).toEqual([
      { expected: 2, found: 2, left: 0, by: [] },
      { expected: 2, found: 2, left: 0, by: [] },
    ]);
  });

  it('finds a range without a fault, and each second of it in which every change was received', () => {
    const [ranges, seconds] = compareMissing({ ...sound, ...withGap('disconnected: no data received', 'missing') });
    expect(ranges).toMatchObject({ expected: 3, found: 2, unexplained: 1 });
    expect(ranges?.examples[0]).toContain('order-book, 4 s from 2027-01-15T08:00:04.000000: called missing');
    // The first and the last one may have been received before and after it.
    expect(seconds).toMatchObject({ expected: 4, found: 2, unexplained: 2 });
  });

  it('finds a gap that begins long before the kill', () => {
    // Up to the last heartbeat before the kill, which may be some seconds before it.
    const early = (change: object = {}) => ({
      recorded: {
        ...sound.recorded,
        gaps: sound.recorded.gaps.map((gap) => ({ ...gap, begins: gap.begins - 8 * SECOND, ...change })),
      },
    });
    expect(outcomes(early())).toMatchObject([
      { left: 0 },
      { left: 6, by: ['10 received after the last heartbeat before a kill'] },
    ]);
    expect(outcomes(early({ cause: 'disconnected' }))[1]).toMatchObject({ left: 16 });
  });

  it('accepts a fault of the stream, and of the event if it is about one', () => {
    const fault = (kind: string, stream: string, eventId: string) => ({
      faults: [{ id: 1, kind, stream, eventId, at: START + 5 * SECOND }],
    });
    const left = (faults: Partial<MissingInput>) => outcomes({ ...withGap('diverged', 'missing'), ...faults })[0]?.left;
    expect(left(fault('drop-connection', 'order-book', 'other'))).toBe(0);
    expect(left(fault('skip-delta', 'order-book', 'e'))).toBe(0);
    expect(left(fault('skip-delta', 'order-book', 'other'))).toBe(1);
    expect(left(fault('skip-delta', 'chance', 'e'))).toBe(1);
    expect(left(fault('duplicate-delta', 'order-book', 'e'))).toBe(1);
    expect(left(fault('http-500', 'rest', 'e'))).toBe(1);
    expect(left({ kills: [...sound.kills, { service: 'transform', at: START + 5 * SECOND }] })).toBe(1);
  });

  it.each([
    ['not yet subscribed', 'unknown', 'not yet subscribed'],
    ['', 'backfilled', 'backfilled'],
    ['stale: changes were read up to 6 s late', 'missing', 'changes were read late'],
  ])('counts a range with the cause "%s" apart', (cause, state, by) => {
    expect(outcomes(withGap(cause, state))[0]).toEqual({ expected: 3, found: 2, left: 0, by: [`1 ${by}`] });
  });

  it('does not accept that an event has closed while it changes', () => {
    const closed = 'unsubscribed: the event has closed';
    expect(outcomes(withGap(closed, 'missing'))[0]).toMatchObject({ left: 1 });
    expect(outcomes(withGap(closed, 'missing', START + 25 * SECOND, START + 30 * SECOND))[0]).toMatchObject({
      left: 0,
      by: ['1 the event has closed'],
    });
  });

  it('accepts that an event closed between the last heartbeat and the kill', () => {
    const closed = (secondsBefore: number) => {
      const begins = KILLED_AT - secondsBefore * SECOND;
      return outcomes(withGap('no further heartbeat of the collector', 'missing', begins, begins + SECOND / 2))[0];
    };
    expect(closed(1.5)).toMatchObject({ expected: 3, found: 3, left: 0 });
    expect(closed(5.5)).toMatchObject({ expected: 3, found: 2, left: 1 });
  });

  it('takes a gap that was divided as one', () => {
    const [begins, middle, ends] = [DOWN.begins, KILLED_AT + SECOND, DOWN.ends];
    const gaps = [
      { ...rangeOf('chance', begins, middle), cause: '', state: 'backfilled' },
      { ...rangeOf('chance', middle, ends), cause: 'no further heartbeat', state: 'missing' },
    ];
    expect(outcomes({ recorded: { ...sound.recorded, gaps } })[0]).toMatchObject({ expected: 2, found: 1, left: 0 });
  });

  it('counts changes apart that were received while the subscription could not be verified', () => {
    expect(outcomes(withGap('diverged', 'missing'))[1]?.by).toEqual(['2 received, but not verified: diverged']);
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
  const mids = first.flatMap(({ bid, ask }) => (bid === null || ask === null ? [] : [(bid + ask) / 2]));
  const text = [
    from?.last,
    Math.max(...lasts),
    Math.min(...lasts),
    to?.last,
    side(to?.bid),
    side(to?.ask),
    ...[mids[0], Math.max(...mids), Math.min(...mids), mids.at(-1)],
    first.length,
  ];
  const candle = { key: ['m0', String(START / SECOND)], value: text.map(String) };
  /** The first example about the first candle of m0. */
  const exampleOf = (row: typeof candle) =>
    compareCandles(shown, [row], 10, START + 60 * SECOND).examples.find((line) =>
      line.startsWith(`m0 ${START / SECOND}:`),
    );

  it('computes open, high, low, close, bid, ask, the same of the mid, and the number of ticks', () => {
    expect(exampleOf(candle)).toBeUndefined();
    expect(compareCandles(shown, [candle], 10, START + 60 * SECOND)).toMatchObject({ expected: 4, unexplained: 3 });
    // Only the first period is over.
    expect(compareCandles(shown, [candle], 10, START + 15 * SECOND)).toMatchObject({ expected: 2, unexplained: 1 });
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('finds a wrong value in column %i', (column) => {
    expect(exampleOf({ ...candle, value: candle.value.with(column, '0.123') })).toContain('0.123');
  });
});
