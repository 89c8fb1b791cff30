import { describe, expect, it } from 'vitest';
import { compareObserved, type RecordedPrices, type Tick } from './observed-prices.js';
import type { PriceChange } from './rig.js';

const MARKETS = ['m0', 'm1', 'm2'];
const SECOND = 1_000_000;
const STOP = 1000 * SECOND;

/** Twenty seconds in which each market changes ten times per second; observed from the fifth second to the stop. */
function sound(): RecordedPrices {
  const truth: PriceChange[] = [];
  for (let n = 0; n < 200; n++) {
    for (const [m, marketId] of MARKETS.entries()) {
      const at = STOP - 20 * SECOND + n * 100_000 + m;
      truth.push({ seq: truth.length + 1, eventId: 'e', marketId, c: (n + 1) / 1000, b: n % 2 ? 0.2 : 0, a: 1, at });
    }
  }
  const begins = STOP - 15 * SECOND;
  const ticks = truth.filter(({ at }) => at > begins).map((change) => tickOf(change));
  const observed = MARKETS.map((market) => ({
    market,
    begins,
    ends: STOP + 50_000,
    cause: 'disconnected: closed by us',
  }));
  return { truth, observed, ticks, startedAt: STOP - 15 * SECOND, searchedAt: STOP - SECOND, stoppedAt: STOP };
}

const tickOf = ({ marketId, c, b, at }: PriceChange): Tick => ({
  market: marketId,
  source: 'delta',
  last: c,
  bid: b === 0 ? null : b,
  ask: null,
  at: at + 2000,
});

const faultsOf = (change: (run: RecordedPrices) => Partial<RecordedPrices>) => {
  const run = sound();
  return compareObserved({ ...run, ...change(run) }).faults;
};

describe('the comparison of recorded prices with the truth', () => {
  it('accepts a complete run, and returns its size', () => {
    const { faults, compared } = compareObserved(sound());
    expect(faults).toEqual([]);
    expect(compared).toBe(sound().ticks.length);
  });

  it('accepts missing changes only near the stop', () => {
    const within = (micros: number) =>
      faultsOf(({ ticks }) => ({ ticks: ticks.filter(({ at }) => at < STOP - micros) }));
    expect(within(0.9 * SECOND)).toEqual([]);
    expect(within(1.3 * SECOND)).toHaveLength(MARKETS.length);
  });

  it('rejects a run with a truncated end, of all markets or of one', () => {
    const cut = STOP - 3 * SECOND;
    expect(faultsOf(({ ticks }) => ({ ticks: ticks.filter(({ at }) => at < cut) }))).toHaveLength(MARKETS.length);
    expect(faultsOf(({ ticks }) => ({ ticks: ticks.filter(({ at, market }) => market !== 'm1' || at < cut) }))).toEqual(
      [expect.stringMatching(/^m1 lacks some of \d+ changes/)],
    );
  });

  it('rejects a run whose coverage ends with the ticks, long before the stop', () => {
    const cut = STOP - 3 * SECOND;
    const faults = faultsOf(({ ticks, observed }) => ({
      ticks: ticks.filter(({ at }) => at < cut),
      observed: observed.map((range) => ({ ...range, ends: cut })),
    }));
    expect(faults).toEqual(MARKETS.map((market) => expect.stringContaining(`${market} was observed until 3000000 µs`)));
  });

  it('rejects a run without the ticks of a market, or without the market', () => {
    const ticksOfOthers = ({ ticks }: RecordedPrices) => ticks.filter(({ market }) => market !== 'm2');
    expect(faultsOf((run) => ({ ticks: ticksOfOthers(run) }))).toEqual([
      expect.stringMatching(/^m2 lacks some of \d+ changes that had to be there; 0 were recorded/),
    ]);
    const observedOthers = ({ observed }: RecordedPrices) => observed.filter(({ market }) => market !== 'm2');
    expect(faultsOf((run) => ({ ticks: ticksOfOthers(run), observed: observedOthers(run) }))).toEqual([
      'm2 was never observed',
    ]);
  });

  it.each([
    ['lacks one in the middle', (ticks: readonly Tick[]) => ticks.filter((_, index) => index !== 30)],
    [
      'has one twice',
      (ticks: readonly Tick[]) => ticks.flatMap((tick, index) => (index === 30 ? [tick, tick] : [tick])),
    ],
    [
      'has two in another order',
      (ticks: readonly Tick[]) => ticks.with(30, ticks[33] as Tick).with(33, ticks[30] as Tick),
    ],
    ['has one with another price', (ticks: readonly Tick[]) => ticks.with(30, { ...(ticks[30] as Tick), bid: 0.3 })],
  ])('refuses a run that %s', (_, changed) => {
    expect(faultsOf(({ ticks }) => ({ ticks: changed(ticks) }))).toEqual([
      expect.stringContaining('has other changes than the truth'),
    ]);
  });

  it('rejects a run that begins too late, and changes of a market that are not in the truth', () => {
    const late = STOP - 12 * SECOND;
    expect(faultsOf(({ ticks }) => ({ ticks: ticks.filter(({ at }) => at > late) }))).toHaveLength(MARKETS.length);
    expect(faultsOf(({ ticks }) => ({ ticks: [...ticks, { ...(ticks[0] as Tick), market: 'm9' }] }))).toEqual([
      'm9 has changes that never were',
    ]);
  });
});
