import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createExchange } from '../../exchange/create-exchange.js';
import type { ExchangeCore, ExchangeOptions } from '../../exchange/engine/index.js';
import { World } from '../../exchange/world/index.js';
import { ManualClock } from '../support/clocks.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { good } from './engine-rig.js';

const root = temporaryFolder();
const running: ExchangeCore[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((core) => core.stop()));
});

/** An exchange whose events end and open, as if bots were trading. */
async function start(options: Partial<ExchangeOptions> = {}) {
  const clock = new ManualClock();
  const all = { seed: 1, events: 40, bots: 24, pace: 1, accounts: 1, takerFeeBps: 20, clock, ...options };
  const world = new World(all.seed);
  const core = createExchange(all, world);
  await core.start(new AbortController().signal);
  running.push(core);
  return { core, clock, world };
}

const idsOf = (core: ExchangeCore) => core.events().map((event) => event.eventId);

describe('the event scheduler', () => {
  it('resolves and opens events at a steady rate, with the configured number open', async () => {
    const { core, clock } = await start({ events: 6, bots: 4, pace: 2 });
    const before = idsOf(core);
    const closed: string[] = [];
    core.on('eventClosed', ({ eventId }) => closed.push(eventId));
    for (let minute = 0; minute < 9; minute++) {
      await clock.advance(60000);
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

  it('has hidden values that drift towards the outcome before an event ends', async () => {
    const { core, clock, world } = await start({ events: 3, pace: 4 });
    const ends: number[] = [];
    core.on('marketResolved', ({ eventId, marketId, winner }) => {
      const event = core.event(eventId);
      const value = world.fairValues().get(marketId);
      if (!event || event.open || value === undefined) return;
      const lived = (event.closesAt - event.createdAt) / 1e6;
      if (lived > 40) ends.push(winner === 'YES' ? value : 1 - value);
    });
    await clock.advance(240000);
    expect(ends.length).toBeGreaterThanOrEqual(5);
    expect(ends.reduce((sum, end) => sum + end, 0) / ends.length).toBeGreaterThan(0.8);
  });

  it('has a hidden value for every open market; those of an event with several markets add up to one', async () => {
    const { core, clock, world } = await start({ events: 20 });
    await clock.advance(30000);
    const values = world.fairValues();
    for (const { markets } of core.events()) {
      const own = markets.map(({ marketId }) => values.get(marketId) ?? Number.NaN);
      for (const value of own) expect(value).toBeGreaterThan(0);
      if (own.length > 1) expect(own.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 6);
    }
    expect(values.size).toBe(core.events().flatMap(({ markets }) => markets).length);
  });

  it('is deterministic for a seed and clock, and differs with another seed', async () => {
    const [first, second, other] = [await start(), await start(), await start({ seed: 2 })];
    for (const { clock } of [first, second, other]) await clock.advance(300000);
    expect(first.core.eventsOpened).toBeGreaterThan(40);
    expect(second.core.events()).toEqual(first.core.events());
    expect(second.world.fairValues()).toEqual(first.world.fairValues());
    expect(idsOf(other.core)).not.toEqual(idsOf(first.core));
  });

  it('does nothing without bots, and at pace 0', async () => {
    for (const quiet of [{ bots: 0 }, { pace: 0 }]) {
      const { core, clock } = await start({ events: 5, ...quiet });
      const before = core.events();
      await clock.advance(600000);
      expect(core.events()).toEqual(before);
      expect(before).toHaveLength(5);
      expect([...core.pricesAfter(0)]).toEqual([]);
    }
  });

  it('creates events with one or several markets, with chances that add up, and the same events for the same seed', async () => {
    const { core } = await start({ bots: 0, events: 60 });
    const events = core.events();
    const sizes = events.map((event) => event.markets.length);
    expect(sizes.filter((size) => size === 1).length).toBeGreaterThan(30);
    expect(sizes.filter((size) => size >= 3 && size <= 6).length).toBeGreaterThan(8);
    expect(new Set(events.map((event) => event.title)).size).toBe(60);
    for (const { markets } of events.filter((event) => event.markets.length > 1)) {
      expect(markets.reduce((sum, market) => sum + market.openingChance, 0)).toBeCloseTo(1, 9);
    }
    const again = await start({ bots: 0, events: 60 });
    expect(again.core.events()).toEqual(events);
  });

  it('continues with the same events after a kill', async () => {
    const path = join(root, 'first');
    const copy = join(root, 'copy');
    const first = await start({ dataDir: path, events: 8 });
    await first.clock.advance(200000);
    cpSync(path, copy, { recursive: true, filter: (name) => !name.endsWith('.lock') });
    const second = await start({ dataDir: copy, events: 8 });
    expect(idsOf(second.core)).toEqual(idsOf(first.core));
    await second.clock.advance(400000);
    expect(second.core.eventsOpened).toBeGreaterThan(first.core.eventsOpened);
  });

  it('tracks events opened by control calls, and their resolution', async () => {
    const { core, world } = await start({ events: 2 });
    const markets = [{ name: 'Yes', chance: 0.4 }];
    const { eventId } = good(core.openEvent({ title: 'By hand', category: 'film', tags: ['x'], markets }));
    const marketId = core.event(eventId)?.markets[0]?.marketId ?? '';
    expect(world.fairValues().get(marketId)).toBeCloseTo(0.4, 6);
    good(core.resolveMarket(eventId, marketId, 'YES'));
    expect(core.event(eventId)).toMatchObject({ open: false, markets: [{ chance: 1, bestBid: 0, bestAsk: 1 }] });
    expect(world.fairValues().has(marketId)).toBe(false);
  });
});
