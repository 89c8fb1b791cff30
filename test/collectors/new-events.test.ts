import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Random, TOPICS } from '../../core/index.js';
import type { EventView } from '../../exchange/engine/index.js';
import { marketOf, openEvent, Traders } from '../exchange/server-support.js';
import { useDatabase } from '../support/database.js';
import { WorkerRig } from '../transforms/worker-rig.js';
import { type CollectorRig, exchangeWith, NEVER, startCollector } from './rig.js';

/** The default; the complete search runs once, at the start. */
const settings = { newEventsSchedule: '* * * * * *', eventsSchedule: NEVER, requestsPerSecond: 20 };

const subscriptions = (rig: CollectorRig, count: number) =>
  rig.waitForEvents('subscribed', (found) => found.length >= count);

describe('the poll of new events', () => {
  it('reads pages up to the first known event, records them, and writes receipts of its own', async () => {
    const { server } = await exchangeWith(5);
    const rig = await startCollector(server.url, { settings });
    const isNew = ({ operation }: { readonly operation: string }) => operation === 'new-events';
    await rig.waitForEvents('poll', (found) => found.some(isNew));
    for (let n = 0; n < 5; n++) openEvent(server.core, `new ${n}`, [0.5]);
    const polls = await rig.waitForEvents('poll', (found) => found.filter(isNew).some((m) => m.distinctItems >= 6));
    const [idle, finding] = [polls.find(isNew), polls.find((m) => isNew(m) && m.distinctItems >= 6)];
    expect(idle).toMatchObject({ pages: 1, receivedItems: 2, outcome: 'complete', cause: '' });
    expect(finding).toMatchObject({ pages: 3, receivedItems: 6, outcome: 'complete', cause: '' });
    const pages = (await rig.records(TOPICS.reference)).filter((r) => r.request['poll'] === finding?.pollId);
    expect(pages.map((r) => [r.kind, r.request['page']])).toEqual([0, 1, 2].map((page) => ['reference.events', page]));
    expect(pages[0]?.request['body']).toEqual({ sb: 'NEWEST' });
    await subscriptions(rig, 20);
    expect(polls.filter((m) => m.operation === 'event-search')).toHaveLength(1);
  });
});

const host = useDatabase({ migrated: true });

interface Gap {
  readonly event: string;
  readonly cause: string;
  readonly begins: number;
  readonly ends: number;
}

describe('an event that opens while events are recorded', () => {
  it('has every price change since its creation in price_ticks or in a gap', async () => {
    const { server } = await exchangeWith(2);
    const rig = await startCollector(server.url, { settings });
    await subscriptions(rig, 4);
    const traders = new Traders(server.core);
    const random = new Random(1, 'price changes');
    const opened: EventView[] = [];
    for (let n = 0; n < 120; n++) {
      if (n % 10 === 0) opened.push(openEvent(server.core, `new ${n}`, [0.5]));
      for (const event of opened.slice(-3)) traders.trade(marketOf(event), 20 + Math.floor(random.next() * 60));
      await delay(random.next() * 100);
    }
    await subscriptions(rig, 4 + 2 * opened.length);
    await delay(200);
    await rig.stop();
    const worker = new WorkerRig(host.database.owner, host.database.name, rig.bus);
    await worker.prepare();
    await worker.worker();
    await worker.drained();
    const gaps = await worker.rows<Gap>(`
      SELECT event, cause, toUnixTimestamp64Micro(begins_at) AS begins, toUnixTimestamp64Micro(ends_at) AS ends
      FROM gaps WHERE stream = 'order-book'`);
    const ticks = await worker.rows<{ market: string; text: string }>(`
      SELECT market, concat(toString(last), ' ', toString(ifNull(bid, 0)), ' ', toString(ifNull(ask, 1))) AS text
      FROM price_ticks WHERE source = 'delta' ORDER BY market, _partition, _offset, _index`);
    await worker.close();
    const lost = opened.flatMap(({ eventId, markets }) => {
      const { marketId } = markets[0] ?? { marketId: '' };
      const own = gaps.filter((gap) => gap.event === eventId);
      const changes = [...server.core.pricesAfter(0)].filter((change) => change.marketId === marketId);
      const recorded = ticks.filter(({ market }) => market === marketId);
      // The recorded changes are the last ones: what was not recorded came before the initial snapshot.
      expect(changes.slice(changes.length - recorded.length).map(({ c, b, a }) => `${c} ${b} ${a}`)).toEqual(
        recorded.map(({ text }) => text),
      );
      return changes.slice(0, changes.length - recorded.length).map(({ at }) => ({ at, own }));
    });
    expect(lost.length).toBeGreaterThan(100);
    // Observation begins with the whole millisecond in which the initial snapshot was received.
    const inNoGap = lost.filter(({ at, own }) => !own.some(({ begins, ends }) => at >= begins && at <= ends + 1000));
    expect(inNoGap).toEqual([]);
    const causes = opened.map(({ eventId }) => gaps.filter((gap) => gap.event === eventId)[0]?.cause);
    expect(new Set(causes)).toEqual(new Set(['not yet subscribed']));
    // Event search has whole milliseconds.
    const creations = opened.map(({ eventId, createdAt }) => [eventId, createdAt - (createdAt % 1000)]);
    const begins = creations.map(([eventId]) => [eventId, gaps.find((gap) => gap.event === eventId)?.begins]);
    expect(begins).toEqual(creations);
  });
});
