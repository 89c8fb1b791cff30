import { describe, expect, it } from 'vitest';
import { BACKFILLED, compareChances, UNRECOVERABLE } from '../../certify/compare/chances.js';
import { comparePrices, ESTIMATED } from '../../certify/compare/prices.js';
import { compareQuotes } from '../../certify/compare/quotes.js';
import { REORDERED } from '../../certify/compare/reordered.js';
import type { RecordedStreams, Tick } from '../../certify/recorded.js';
import type { UsedFault } from '../../certify/truth.js';
import { prices, SECOND, START, streamsOf, tickOf } from './ledger-data.js';

const truth = prices();
const sound = streamsOf(truth);
/** The change of m0 in this position of its changes. */
const changeOf = (n: number) => truth[2 * n] ?? fail();

const input = (recorded: Partial<RecordedStreams>, faults: readonly UsedFault[] = []) => ({
  prices: truth,
  openingChances: new Map<string, number>(),
  recorded: { ...sound, ...recorded },
  faults,
  recordedFrom: START,
});
const compared = (recorded: Partial<RecordedStreams>, faults: readonly UsedFault[] = []) =>
  comparePrices(input(recorded, faults)).comparisons;
const chances = (recorded: Partial<RecordedStreams>, faults: readonly UsedFault[] = []) =>
  compareChances(input(recorded, faults)).comparisons;

const without = (...positions: number[]): Tick[] =>
  sound.ticks.filter((_, index) => !positions.some((n) => index === 2 * n));
const skip = (stream: string, n: number): UsedFault => ({
  id: 1,
  kind: 'skip-delta',
  stream,
  eventId: 'e',
  at: changeOf(n).at + 300,
});
/** Enough audits for an estimate, none of which found an unequal market. */
const LOSS = { audits: 300, samples: 300, missed: 0 };

describe('the comparison of price changes with the ledger', () => {
  it('accepts a complete recording, and states of the order book between changes', () => {
    const snapshots = [50, 120].map((n): Tick => ({ ...tickOf(changeOf(n)), source: 'snapshot' }));
    const ticks = [...sound.ticks.slice(0, 101), ...snapshots.slice(0, 1), ...sound.ticks.slice(101)];
    const [changes, states] = compared({ ticks });
    expect(changes).toMatchObject({ expected: 400, found: 400, explained: [], unexplained: 0 });
    expect(states).toMatchObject({ expected: 1, found: 1, unexplained: 0 });
  });

  it('finds a lost row, a duplicate one, two in another order, and a wrong price', () => {
    const lost = compared({ ticks: without(30) });
    expect(lost[0]).toMatchObject({ expected: 400, found: 399, unexplained: 1 });
    expect(lost[0]?.examples[0]).toMatch(/^market m0, 2027-01-15T08:00:03.000000, .*: not recorded$/);
    const duplicate = compared({ ticks: sound.ticks.flatMap((tick, i) => (i === 60 ? [tick, { ...tick }] : [tick])) });
    expect(duplicate[0]).toMatchObject({ found: 401, unexplained: 1 });
    const [one, other] = [sound.ticks[60] ?? fail(), sound.ticks[64] ?? fail()];
    expect(compared({ ticks: sound.ticks.with(60, other).with(64, one) })[0]?.unexplained).toBeGreaterThan(0);
    const wrong = compared({ ticks: sound.ticks.with(60, { ...one, bid: 0.77 }) });
    expect(wrong[0]).toMatchObject({ found: 400, unexplained: 2 });
  });

  it('finds a state of the order book that never was', () => {
    const state: Tick = { ...tickOf(changeOf(50)), source: 'snapshot', ask: 0.88 };
    const [, states] = compared({ ticks: sound.ticks.toSpliced(101, 0, state) });
    expect(states).toMatchObject({ unexplained: 1, examples: [expect.stringContaining('never was the state')] });
  });

  it('explains lost rows by the gap that covers them, and not by one that begins too late', () => {
    const gap = (begins: number, ends: number) => ({
      gaps: [{ stream: 'order-book', event: 'e', begins, ends, cause: 'disconnected: test' }],
      ticks: without(30, 31, 32),
    });
    const [from, to] = [changeOf(30).at, changeOf(32).at];
    const covered = compared(gap(from - 50_000, to + 50_000))[0];
    expect(covered).toMatchObject({ unexplained: 0, explained: [{ by: 'gap: disconnected', count: 3 }] });
    expect(compared(gap(from + 10_000, to + 50_000))[0]).toMatchObject({ unexplained: 1 });
    expect(compared(gap(from - 50_000, to - 10_000))[0]).toMatchObject({ unexplained: 1 });
    expect(compared({ ticks: without(30, 31, 32) })[0]).toMatchObject({ unexplained: 3 });
  });

  it('explains a row by a dead letter of its event, once, also one that took longer than other frames', () => {
    const letter = (event: string, afterMicros: number) => ({
      deadLetters: new Map([['order-book', [{ event, at: changeOf(30).at + afterMicros }]]]),
    });
    for (const afterMicros of [2100, 1_500_000]) {
      expect(compared({ ticks: without(30), ...letter('e', afterMicros) })[0]).toMatchObject({
        unexplained: 0,
        explained: [{ by: 'dead letter', count: 1 }],
      });
    }
    expect(compared({ ticks: without(30), ...letter('e', -50_000) })[0]).toMatchObject({ unexplained: 1 });
    expect(compared({ ticks: without(30), ...letter('e', 2_500_000) })[0]).toMatchObject({ unexplained: 1 });
    expect(compared({ ticks: without(30), ...letter('other', 2100) })[0]).toMatchObject({ unexplained: 1 });
    expect(compared({ ticks: without(30, 130), ...letter('e', 2100) })[0]).toMatchObject({ unexplained: 1 });
  });

  it('estimates what the exchange skipped between two audits, if there were enough audits', () => {
    const faults = [skip('order-book', 30)];
    expect(compared({ ticks: without(30), loss: LOSS }, faults)[0]).toMatchObject({
      unexplained: 0,
      explained: [{ by: ESTIMATED, count: 1 }],
    });
    expect(compared({ ticks: without(30), loss: { ...LOSS, audits: 299 } }, faults)[0]?.examples).toEqual([
      expect.stringContaining('from 299 audits only'),
    ]);
    expect(compared({ ticks: without(30, 40), loss: LOSS }, faults)[0]).toMatchObject({ unexplained: 1 });
  });

  it('refuses an estimate that is improbable at the true loss rate', () => {
    const faults = [skip('order-book', 30)];
    const found = compared({ ticks: without(30), loss: { audits: 300, samples: 300, missed: 20 } }, faults);
    expect(found[0]?.examples).toEqual([expect.stringContaining('audits found 20 of 300 changed markets unequal')]);
  });

  it('counts what audits found among what was lost: many mismatches are probable when much was skipped', () => {
    const skipped = Array.from({ length: 20 }, (_, n) => 20 + 8 * n);
    const gaps = skipped.slice(1).map((n) => ({
      stream: 'order-book',
      event: 'e',
      begins: changeOf(n).at - 10_000,
      ends: changeOf(n).at + 10_000,
      cause: 'diverged',
    }));
    const recorded = { ticks: without(...skipped), gaps, loss: { audits: 300, samples: 300, missed: 19 } };
    const faults = skipped.map((n) => skip('order-book', n));
    expect(compared(recorded, faults)[0]).toMatchObject({
      unexplained: 0,
      explained: [
        { by: 'gap: diverged', count: 19 },
        { by: ESTIMATED, count: 1 },
      ],
    });
  });

  it('finds a skipped change that an audit should have seen', () => {
    const audits = [{ event: 'e', at: changeOf(30).at + 60_000 }];
    const found = compared({ ticks: without(30), loss: LOSS, audits }, [skip('order-book', 30)]);
    expect(found[0]?.examples).toEqual([expect.stringContaining('an audit did not see it')]);
  });

  it('expects no audit to see two skipped changes of which the second brought the price back', () => {
    const { c, b, a } = changeOf(29);
    const back = truth.with(62, { ...changeOf(31), c, b, a });
    const audits = [{ event: 'e', at: changeOf(31).at + 60_000 }];
    const ticks = streamsOf(back).ticks.filter((_, index) => index !== 60 && index !== 62);
    const faults = [skip('order-book', 30), skip('order-book', 31)];
    const found = comparePrices({ ...input({ ticks, loss: LOSS, audits }, faults), prices: back }).comparisons;
    expect(found[0]).toMatchObject({ unexplained: 0, explained: [{ by: ESTIMATED, count: 2 }] });
    // Between the two, the price was another.
    const early = [{ event: 'e', at: changeOf(30).at + 60_000 }];
    const [seen] = comparePrices({ ...input({ ticks, loss: LOSS, audits: early }, faults), prices: back }).comparisons;
    expect(seen).toMatchObject({ unexplained: 1, explained: [{ by: ESTIMATED, count: 1 }] });
  });

  it('estimates a change that repeats the one before the skipped one', () => {
    // The market changes at 31 and back at 32: without 31, 32 is received as a repetition of 30.
    const back = { ...changeOf(30), at: changeOf(32).at };
    const changed = truth.map((change) => (change === changeOf(32) ? back : change));
    const repeated = { ...tickOf(back), repeated: true };
    const ticks = sound.ticks.flatMap((tick, i) => (i === 62 ? [] : i === 64 ? [repeated] : [tick]));
    const recorded = { ...sound, ticks, loss: LOSS };
    const result = comparePrices({ ...input({}, [skip('order-book', 31)]), prices: changed, recorded }).comparisons;
    expect(result[0]).toMatchObject({ found: 398, unexplained: 0, explained: [{ by: ESTIMATED, count: 2 }] });
  });

  it('does not take a change that repeats the one before for one that an audit should have seen', () => {
    const back = { ...changeOf(30), at: changeOf(32).at };
    const changed = truth.map((change) => (change === changeOf(32) ? back : change));
    const repeated = { ...tickOf(back), repeated: true };
    const ticks = sound.ticks.flatMap((tick, i) => (i === 62 ? [] : i === 64 ? [repeated] : [tick]));
    // After the second change, which set the price back.
    const audits = [{ event: 'e', at: changeOf(32).at + 60_000 }];
    const recorded = { ...sound, ticks, loss: LOSS, audits };
    const result = comparePrices({ ...input({}, [skip('order-book', 31)]), prices: changed, recorded }).comparisons;
    expect(result[0]).toMatchObject({ unexplained: 0, explained: [{ by: ESTIMATED, count: 2 }] });
  });

  it('explains two changes in another order by the fault that exchanged them, and candles have both', () => {
    const [one, other] = [sound.ticks[60] ?? fail(), sound.ticks[62] ?? fail()];
    const ticks = sound.ticks.with(60, { ...other }).with(62, { ...one, receivedAt: other.receivedAt + 1000 });
    const fault = { ...skip('order-book', 30), kind: 'reorder-deltas' };
    const result = comparePrices(input({ ticks, loss: LOSS }, [fault]));
    expect(result.comparisons[0]).toMatchObject({
      found: 400,
      unexplained: 0,
      explained: [{ by: REORDERED, count: 1 }],
    });
    expect(result.shown.get('m0')).toHaveLength(200);
    expect(result.lost).toEqual([]);
    // Another two are not.
    const [third, fourth] = [sound.ticks[20] ?? fail(), sound.ticks[22] ?? fail()];
    const more = ticks.with(20, fourth).with(22, third);
    expect(comparePrices(input({ ticks: more, loss: LOSS }, [fault])).comparisons[0]?.unexplained).toBeGreaterThan(0);
  });

  it('does not expect changes before the collector was ready', () => {
    const ticks = sound.ticks.filter(({ receivedAt }) => receivedAt > START + 5 * SECOND);
    const result = comparePrices({ ...input({ ticks }), recordedFrom: START + 5 * SECOND + 500 });
    expect(result.comparisons[0]).toMatchObject({ unexplained: 0 });
  });
});

describe('the comparison of chances with the ledger', () => {
  it('accepts a complete recording', () => {
    expect(chances({}).map(({ unexplained, explained }) => [unexplained, explained])).toEqual([
      [0, []],
      [0, []],
    ]);
    expect(chances({})[0]).toMatchObject({ expected: 40, found: 40 });
  });

  it('finds a second without its last chance, and a live point that is missing, wrong or duplicate', () => {
    expect(chances({ seconds: sound.seconds.slice(1) })[0]).toMatchObject({ unexplained: 1 });
    const [first] = sound.seconds;
    const wrong = sound.seconds.with(0, { ...(first ?? fail()), chance: 0.999 });
    expect(chances({ seconds: wrong })[0]).toMatchObject({ unexplained: 1 });
    const points = sound.livePoints;
    expect(chances({ livePoints: points.slice(1) })[1]).toMatchObject({ unexplained: 1 });
    expect(chances({ livePoints: [points[0] ?? fail(), ...points] })[1]).toMatchObject({ unexplained: 1 });
    expect(chances({ livePoints: points.with(0, { ...(points[0] ?? fail()), chance: 0.999 }) })[1]).toMatchObject({
      unexplained: 2,
    });
  });

  it('explains points in another order by the fault, and does not accept one with another time', () => {
    const points = sound.livePoints.filter(({ market }) => market === 'm0');
    const others = sound.livePoints.filter(({ market }) => market !== 'm0');
    const [one, other] = [points[4] ?? fail(), points[5] ?? fail()];
    const late = { ...one, receivedAt: other.receivedAt + 1000 };
    const swapped = [...points.with(4, other).with(5, late), ...others];
    const reorder = { ...skip('chance', 12), kind: 'reorder-deltas' };
    expect(chances({ livePoints: swapped })[1]?.unexplained).toBeGreaterThan(0);
    expect(chances({ livePoints: swapped }, [reorder])[1]).toMatchObject({
      unexplained: 0,
      explained: [{ by: REORDERED, count: 1 }],
    });
    const ahead = [...points.with(4, { ...one, second: one.second + 3600 }), ...others];
    expect(chances({ livePoints: ahead }, [{ ...reorder, kind: 'clock-skew' }])[1]).toMatchObject({ unexplained: 2 });
  });

  it('calls a skipped point unrecoverable inside a second, and backfilled at its end', () => {
    const missing = (n: number) => ({
      livePoints: sound.livePoints.filter(
        ({ market, receivedAt }) => market !== 'm0' || receivedAt !== changeOf(n).at + 2000,
      ),
    });
    // Of m0 the last price changes at 0.3, 0.6 and 0.9 s of the second second: 12, 15 and 18.
    expect(chances(missing(12), [skip('chance', 12)])[1]).toMatchObject({
      unexplained: 0,
      explained: [{ by: UNRECOVERABLE, count: 1 }],
    });
    expect(chances(missing(18), [skip('chance', 18)])[1]).toMatchObject({
      unexplained: 0,
      explained: [{ by: BACKFILLED, count: 1 }],
    });
  });
});

function fail(): never {
  throw new Error('the data has no such row');
}

describe('the comparison of the quotes of trades with the ledger', () => {
  const midOf = (n: number) => (changeOf(n).b + changeOf(n).a) / 2;
  const quotes = (moment: number, mid: number, ticks = sound.ticks) =>
    compareQuotes({
      prices: truth,
      shown: comparePrices(input({ ticks })).shown,
      quotes: [{ market: 'm0', moment, mid }],
      faults: [],
    });

  it('accepts the mid that the exchange had, and an older one while the change was on its way or if it was not received', () => {
    const { at } = changeOf(34);
    expect(quotes(at + 50_000, midOf(34))).toMatchObject({ expected: 1, found: 1, explained: [], unexplained: 0 });
    expect(quotes(at + 1000, midOf(33))).toMatchObject({
      found: 0,
      explained: [{ by: expect.stringMatching(/received after it$/), count: 1 }],
      unexplained: 0,
    });
    expect(quotes(at + 50_000, midOf(33), without(34))).toMatchObject({
      found: 0,
      explained: [{ by: expect.stringMatching(/was not received$/), count: 1 }],
      unexplained: 0,
    });
  });

  it('finds a mid that was not the last one received, and one that never was', () => {
    const { at } = changeOf(34);
    expect(quotes(at + 50_000, midOf(33))).toMatchObject({ found: 0, explained: [], unexplained: 1 });
    expect(quotes(at + 50_000, midOf(38), without(34))).toMatchObject({ found: 0, unexplained: 1 });
    expect(quotes(at + 50_000, 0.123)).toMatchObject({ found: 0, unexplained: 1 });
  });
});
