import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../core/index.js';
import { until } from '../support/until.js';
import { type CoverageRow, compareObserved, observedMarkets, type Tick } from './observed-prices.js';
import { type PriceChange, Rig } from './rig.js';

/**
 * All parts, started with a seed and stopped after a while: ClickHouse has exactly the exchange's data.
 */
describe('the pipeline', () => {
  const rig = new Rig();
  let truth: PriceChange[] = [];
  let [startedAt, searchedAt, stoppedAt] = [0, 0, 0];
  let events: SearchedEvent[] = [];

  beforeAll(async () => {
    await rig.startExchange({ seed: 7, events: 8, pace: 12 });
    await rig.start('warehouse');
    await rig.start('transform');
    await rig.start('collect');
    startedAt = (await everyEventObserved(rig)).searchedAt;
    await until(async () => {
      const ticks = await rig.value<number>('SELECT count() FROM price_ticks').catch((e: Error) => e.message);
      // Long enough for markets that had to be found.
      const lasted = systemClock.nowMicros() - startedAt > LONG_ENOUGH_MICROS;
      return (Number(ticks) >= 2500 && lasted) || `${ticks} ticks`;
    });
    ({ events, searchedAt } = await everyEventObserved(rig));
    const searched = events.flatMap(({ outcomes }) => outcomes.map(({ marketId }) => marketId));
    await until(async () => {
      const known = new Set((await rig.rows<{ market: string }>('SELECT market FROM markets')).map((m) => m.market));
      const missing = searched.filter((market) => !known.has(market));
      return missing.length === 0 || `not found yet: ${missing.join(', ')}`;
    });
    stoppedAt = systemClock.nowMicros();
    expect(await rig.service('collect').stop()).toBe(0);
    truth = await rig.truthPrices();
    await rig.drained();
  });
  afterAll(() => rig.close());

  test('has every change of every market in order, from the subscription to its end', async () => {
    const ticks = await rig.rows<Tick>(`
      SELECT market, source, last, bid, ask, toUnixTimestamp64Micro(received_at) AS at
      FROM price_ticks ORDER BY market, received_at, _offset, _index`);
    const coverage = await rig.rows<CoverageRow>(`
      SELECT markets, toUnixTimestamp64Micro(begins_at) AS begins, toUnixTimestamp64Micro(ends_at) AS ends, cause
      FROM coverage WHERE stream = 'order-book' ORDER BY ends_at`);
    const observed = observedMarkets(coverage);
    const { faults, compared } = compareObserved({ truth, observed, ticks, startedAt, searchedAt, stoppedAt });
    expect(faults).toEqual([]);
    expect(observed.length).toBeGreaterThan(8);
    expect(compared).toBeGreaterThan(2000);
  });

  test('has every event, market and asset of the search', async () => {
    const markets = await rig.rows<{ market: string; event: string; yes_asset: string; no_asset: string }>(
      'SELECT market, event, yes_asset, no_asset FROM markets',
    );
    const known = new Map(markets.map((m) => [m.market, m]));
    for (const event of events) {
      for (const { marketId, yesId, noId } of event.outcomes) {
        expect(known.get(marketId)).toEqual({ market: marketId, event: event.id, yes_asset: yesId, no_asset: noId });
      }
    }
  });

  test('has the chance candles that follow from the truth, in every period that was completely observed', async () => {
    const observed = await rig.rows<{ event: string; from: number; to: number }>(`
      SELECT event, toUnixTimestamp64Micro(begins_at) AS from, toUnixTimestamp64Micro(ends_at) AS to
      FROM observed_ranges WHERE stream = 'chance'`);
    const inside = (eventId: string, period: number) =>
      observed.some(
        (w) =>
          w.event === eventId &&
          w.from <= period * MICROS - CLOCKS_MICROS &&
          (period + PERIOD) * MICROS <= w.to - CLOCKS_MICROS,
      );
    const expected = candlesOf(truth).filter(({ eventId, begins }) => inside(eventId, begins));
    const found = await rig.rows<Candle & { observed: number }>(`
      SELECT event AS eventId, market AS marketId, toUnixTimestamp(begins_at) AS begins, open, high, low, close, observed
      FROM chance_candles(period_seconds = ${PERIOD}) WHERE points > 0 ORDER BY marketId, begins`);
    const wholly = found.filter(({ eventId, begins }) => inside(eventId, begins));
    expect(wholly.map(({ observed, ...candle }) => candle)).toEqual(expected);
    expect(wholly.every(({ observed }) => observed === 1)).toBe(true);
    expect(expected.length).toBeGreaterThan(15);
  });
});

interface SearchedEvent {
  readonly id: string;
  readonly outcomes: readonly { readonly marketId: string; readonly yesId: string; readonly noId: string }[];
}

/** Resolves with a search all of whose events have been observed, and when it was sent, Unix microseconds. */
async function everyEventObserved(rig: Rig): Promise<{ events: SearchedEvent[]; searchedAt: number }> {
  let [events, searchedAt]: [SearchedEvent[], number] = [[], 0];
  await until(async () => {
    searchedAt = systemClock.nowMicros();
    const search = await fetch(`${rig.exchange.url}/api/events/search?size=100`, { method: 'POST' });
    events = ((await search.json()) as { content: SearchedEvent[] }).content;
    const rows = await rig.rows<{ event: string }>("SELECT DISTINCT event FROM coverage WHERE stream = 'order-book'");
    const observed = new Set(rows.map(({ event }) => event));
    const missing = events.filter(({ id }) => !observed.has(id)).map(({ id }) => id);
    return missing.length === 0 || `not observed yet: ${missing.join(', ')}`;
  });
  return { events, searchedAt };
}

/** For markets that open meanwhile. */
const LONG_ENOUGH_MICROS = 12_000_000;
const PERIOD = 2;
/** What the clocks of the exchange and the collector, two processes, may be apart: each follows the wall to 5 ms. */
const CLOCKS_MICROS = 15_000;
const MICROS = 1_000_000;

interface Candle {
  readonly eventId: string;
  readonly marketId: string;
  /** Unix seconds. */
  readonly begins: number;
  open: number;
  high: number;
  low: number;
  close: number;
}

/** The candles of every change of a chance, in order of market and time. */
function candlesOf(truth: readonly PriceChange[]): Candle[] {
  const candles = new Map<string, Candle>();
  const chances = new Map<string, number>();
  for (const { eventId, marketId, c, at } of truth) {
    if (chances.get(marketId) === c) continue;
    const opening = !chances.has(marketId);
    chances.set(marketId, c);
    // The first change that the truth lists may be one of the book alone.
    if (opening) continue;
    const begins = Math.floor(at / MICROS / PERIOD) * PERIOD;
    const candle = candles.get(`${marketId} ${begins}`);
    if (!candle) {
      candles.set(`${marketId} ${begins}`, { eventId, marketId, begins, open: c, high: c, low: c, close: c });
    } else {
      candle.high = Math.max(candle.high, c);
      candle.low = Math.min(candle.low, c);
      candle.close = c;
    }
  }
  const key = (candle: Candle) => `${candle.marketId} ${candle.begins}`;
  return [...candles.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
