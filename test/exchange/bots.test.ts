import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createExchange } from '../../exchange/create-exchange.js';
import type { ExchangeCore, ExchangeOptions, TruthPrice } from '../../exchange/engine/index.js';
import { good } from './engine-rig.js';
import { VirtualClock } from './virtual-clock.js';

const root = await mkdtemp(join(tmpdir(), 'chancery-bots-'));
const running: ExchangeCore[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((core) => core.stop()));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function start(options: Partial<ExchangeOptions> = {}) {
  const clock = new VirtualClock();
  const all = { seed: 1, events: 40, bots: 24, pace: 1, accounts: 1, takerFeeBps: 20, clock, ...options };
  const core = createExchange(all);
  await core.start(new AbortController().signal);
  running.push(core);
  return { core, clock };
}

const pricesOf = (core: ExchangeCore): TruthPrice[] => [...core.pricesAfter(0)];

describe('the bots at pace 1', () => {
  it('change 40 to 80 prices a second over 40 events, some events far more than others, in all three ways', async () => {
    const { core, clock } = await start();
    await clock.run(20);
    const warm = pricesOf(core).length;
    await clock.run(60);
    const prices = pricesOf(core).slice(warm);
    expect(prices.length / 60).toBeGreaterThan(40);
    expect(prices.length / 60).toBeLessThan(80);
    const perEvent = new Map<string, number>();
    for (const { eventId } of prices) perEvent.set(eventId, (perEvent.get(eventId) ?? 0) + 1);
    const counts = [...perEvent.values()].sort((a, b) => b - a);
    expect(counts.length).toBeGreaterThanOrEqual(38);
    expect(counts[0]).toBeGreaterThan(10 * (counts[20] ?? Number.NaN));
    expect(new Set([...core.fillsAfter(0)].map((fill) => fill.kind))).toEqual(new Set(['mint', 'merge', 'transfer']));
    for (const event of core.events()) {
      for (const market of event.markets) {
        if (market.resolved) continue;
        expect(market.bestBid, `${event.title}: ${market.name}`).toBeGreaterThan(0);
        expect(market.bestAsk, `${event.title}: ${market.name}`).toBeLessThan(1);
      }
    }
    expect(core.truth().identity.balanced).toBe(true);
  });

  it('do the same again with the same seed and clock, and something else with another seed', async () => {
    const [first, second, other] = [await start(), await start(), await start({ seed: 2 })];
    for (const { clock } of [first, second, other]) await clock.run(5);
    expect(pricesOf(first.core).length).toBeGreaterThan(100);
    expect(second.core.truth()).toEqual(first.core.truth());
    expect(pricesOf(second.core)).toEqual(pricesOf(first.core));
    expect([...second.core.fillsAfter(0)]).toEqual([...first.core.fillsAfter(0)]);
    expect(second.core.events()).toEqual(first.core.events());
    expect(other.core.events()).not.toEqual(first.core.events());
  });
});

describe('market life', () => {
  it('lets events end and begin at a steady rate, with as many open as were asked for', async () => {
    const { core, clock } = await start({ events: 6, bots: 4, pace: 2 });
    const before = core.events().map((event) => event.eventId);
    const closed: string[] = [];
    core.on('eventClosed', ({ eventId }) => closed.push(eventId));
    for (let minute = 0; minute < 9; minute++) {
      await clock.run(60);
      expect(core.events().length).toBeGreaterThanOrEqual(5);
      expect(core.events().length).toBeLessThanOrEqual(6);
    }
    // Nine minutes at pace 2 are eighteen at pace 1, and one event ends every minute and a half.
    expect(closed.length).toBeGreaterThanOrEqual(9);
    expect(closed.length).toBeLessThanOrEqual(15);
    expect(core.eventsOpened).toBeGreaterThanOrEqual(closed.length + 5);
    for (const eventId of before) expect(closed).toContain(eventId);
    for (const eventId of closed) {
      const event = core.event(eventId);
      const winners = event?.markets.filter((market) => market.resolved?.winner === 'YES').length ?? Number.NaN;
      expect(event?.markets.every((market) => market.resolved)).toBe(true);
      if (event && event.markets.length > 1) expect(winners).toBe(1);
    }
    expect(core.truth().identity.balanced).toBe(true);
  });

  it('has prices run towards the outcome before an event ends', async () => {
    const { core, clock } = await start({ events: 3, bots: 8, pace: 4 });
    const ends: number[] = [];
    const last = new Map<string, number>();
    core.on('price', ({ marketId, chance }) => {
      if (chance > 0 && chance < 1) last.set(marketId, chance);
    });
    core.on('marketResolved', ({ eventId, marketId, winner }) => {
      const event = core.event(eventId);
      const chance = last.get(marketId);
      if (!event || event.open || chance === undefined) return;
      const lived = (event.closesAt - event.createdAt) / 1e6;
      if (lived > 40) ends.push(winner === 'YES' ? chance : 1 - chance);
    });
    await clock.run(240);
    expect(ends.length).toBeGreaterThanOrEqual(5);
    expect(ends.reduce((sum, end) => sum + end, 0) / ends.length).toBeGreaterThan(0.8);
  });

  it('stands still without bots, and after the first events are open nothing trades', async () => {
    const { core, clock } = await start({ bots: 0, events: 5 });
    const before = core.events();
    await clock.run(600);
    expect(core.events()).toEqual(before);
    expect(before).toHaveLength(5);
    expect(pricesOf(core)).toEqual([]);
  });

  it('makes several markets of some events, with chances that add up, and the same events for the same seed', async () => {
    const { core } = await start({ bots: 0, events: 60 });
    const events = core.events();
    const sizes = events.map((event) => event.markets.length);
    expect(sizes.filter((size) => size === 1).length).toBeGreaterThan(30);
    expect(sizes.filter((size) => size >= 3 && size <= 6).length).toBeGreaterThan(8);
    expect(new Set(events.map((event) => event.title)).size).toBe(60);
    for (const { markets } of events.filter((event) => event.markets.length > 1)) {
      expect(markets.reduce((sum, market) => sum + market.openingChance, 0)).toBeCloseTo(1, 1);
    }
    const again = await start({ bots: 0, events: 60 });
    expect(again.core.events()).toEqual(events);
  });
});

describe('an exchange with bots and a data folder', () => {
  it('goes on with the same markets after a kill, and the bots trade on', async () => {
    const path = join(root, 'first');
    const copy = join(root, 'copy');
    const first = await start({ dataDir: path, events: 8, bots: 8 });
    await first.clock.run(30);
    cpSync(path, copy, { recursive: true, filter: (name) => !name.endsWith('.lock') });
    const prices = pricesOf(first.core);
    const second = await start({ dataDir: copy, events: 8, bots: 8 });
    expect(pricesOf(second.core).slice(0, prices.length)).toEqual(prices);
    const ids = (core: ExchangeCore) => core.events().map((event) => event.eventId);
    expect(ids(second.core)).toEqual(ids(first.core));
    await second.clock.run(60);
    expect(pricesOf(second.core).length).toBeGreaterThan(prices.length + 100);
    expect(second.core.truth().identity.balanced).toBe(true);
  });

  it('trades in events that others open, and lets them be resolved', async () => {
    const { core, clock } = await start({ events: 2, bots: 8 });
    const markets = [{ name: 'Yes', chance: 0.4 }];
    const { eventId } = good(core.openEvent({ title: 'By hand', category: 'film', tags: ['x'], markets }));
    await clock.run(20);
    const [market] = core.event(eventId)?.markets ?? [];
    expect(market?.bestBid).toBeGreaterThan(0);
    good(core.resolveMarket(eventId, market?.marketId ?? '', 'YES'));
    await clock.run(20);
    expect(core.event(eventId)).toMatchObject({ open: false, markets: [{ chance: 1, bestBid: 0, bestAsk: 1 }] });
  });
});
