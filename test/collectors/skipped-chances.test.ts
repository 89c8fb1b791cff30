import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Random, TOPICS } from '../../core/index.js';
import type { EventView } from '../../exchange/engine/index.js';
import { marketOf, Traders } from '../exchange/server-support.js';
import { useDatabase } from '../support/database.js';
import type { TestExchange } from '../support/exchange.js';
import { until } from '../support/until.js';
import { WorkerRig } from '../transforms/worker-rig.js';
import { exchangeWith, NEVER, startCollector } from './rig.js';

const host = useDatabase({ migrated: true });

/** The last chance of every second in which it changed: `<market> <Unix second>` → chance. */
function lastChances({ core }: TestExchange, events: readonly EventView[]): Map<string, number> {
  const chances = new Map(events.map((event) => [marketOf(event).marketId, marketOf(event).chance]));
  const seconds = new Map<string, number>();
  for (const { marketId, c, at } of core.pricesAfter(0)) {
    if (chances.get(marketId) === c) continue;
    chances.set(marketId, c);
    seconds.set(`${marketId} ${Math.floor(at / 1e6)}`, c);
  }
  return seconds;
}

const isResponseTo = (body: unknown, eventId: string | undefined) => {
  const { t, e } = body as { t?: string; e?: string };
  return t === 'HISTORY_RESPONSE' && e === eventId;
};

describe('points that the chance stream skips', () => {
  it('are backfilled within 60 s, each once, from UPDATE_HISTORY or raw history', async () => {
    const { server, events } = await exchangeWith(2);
    const [skipping, frozen] = events.map((event) => event.eventId);
    const settings = { silenceMs: 2000, eventsSchedule: NEVER };
    const rig = await startCollector(server.url, { settings });
    await rig.waitForEvents('subscribed', (found) => found.length === 4);
    const worker = new WorkerRig(host.database.owner, host.database.name, rig.bus);
    await worker.prepare();
    await worker.worker();
    const traders = new Traders(server.core);
    const random = new Random(1, 'chances');
    for (let n = 0; n < 80; n++) {
      const fault = { stream: 'chance', eventId: skipping };
      // Three of five chances, at random: on a slow machine, every fifth one may be the last one of its second.
      if (random.integer(1, 5) === 1)
        await server.control('POST', '/faults', { ...fault, kind: 'skip-delta', count: 3 });
      // Neither live points nor UPDATE_HISTORY.
      if (n === 20) await server.control('POST', '/faults', { ...fault, eventId: frozen, kind: 'freeze', ms: 2200 });
      if (n === 38) await server.control('POST', '/faults', { ...fault, kind: 'clock-skew', ms: 3_600_000 });
      for (const event of events) traders.trade(marketOf(event), random.integer(10, 90));
      await delay(80);
    }
    const expected = lastChances(server, events);
    const missing = async (rows: string): Promise<string[]> => {
      const found = await worker.rows<{ second: string; last: number }>(`
        SELECT concat(market, ' ', toString(toUnixTimestamp(occurred_at))) AS second,
          argMax(chance, (occurred_at, received_at, log_position)) AS last
        FROM (${rows}) GROUP BY second`);
      const known = new Map(found.map(({ second, last }) => [second, last]));
      return [...expected].filter(([second, chance]) => known.get(second) !== chance).map(([second]) => second);
    };
    const series = 'SELECT market, occurred_at, chance, received_at, log_position, source FROM chance_series';
    await until(async () => {
      const lacks = await missing(`${series} WHERE source != 'last-known'`);
      return lacks.length === 0 || `missing: ${lacks.join(', ')}`;
    }, 60_000);
    const notLive = (await missing(`${series} WHERE source = 'live'`)).map((second) => second.split(' ')[0]);
    for (const event of events) expect(notLive).toContain(marketOf(event).marketId);
    // The chance with a time in an hour is a dead letter, and in no view: its second was backfilled like that of a skipped one.
    expect(await worker.rows('SELECT event, market FROM chance_series WHERE occurred_at > now() + 60')).toEqual([]);
    const dead =
      "SELECT json_path, reason LIKE 'expected a time at most 5 minutes after its receipt%' AS ahead FROM dead_letters";
    expect(await worker.rows(dead)).toEqual([{ json_path: 'd.t', ahead: 1 }]);
    const twice = await worker.rows(`
      SELECT market, toStartOfSecond(occurred_at) AS second FROM (${series}) WHERE source = 'history'
      GROUP BY market, second HAVING count() > 1`);
    expect(twice).toEqual([]);
    const skipped = await worker.rows<{ source: string; slowest: number }>(`
      SELECT source, max(dateDiff('second', occurred_at, received_at)) AS slowest
      FROM skipped_chance_points GROUP BY source ORDER BY source`);
    // Whether UPDATE_HISTORY or history of a period is first depends on the machine.
    expect(skipped.length).toBeGreaterThan(0);
    const [updates] = await worker.rows<{ points: number }>(
      "SELECT toUInt32(count()) AS points FROM chance_points WHERE source = 'aggregate'",
    );
    expect(updates?.points).toBeGreaterThan(0);
    expect(skipped.every(({ slowest }) => slowest < 60)).toBe(true);
    await worker.close();
  });

  it('are in the responses to probes, which together have every second, also of a busy market', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings: { silenceMs: 500, eventsSchedule: NEVER } });
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    const traders = new Traders(server.core);
    const random = new Random(1, 'busy');
    const responses = async () =>
      (await rig.records(TOPICS.chance)).filter(({ body }) => (body as { t?: string }).t === 'HISTORY_RESPONSE');
    await until(async () => {
      for (const event of events) traders.trade(marketOf(event), random.integer(10, 90));
      await delay(50);
      return (await responses()).length >= 6;
    });
    for (const { request, receivedAt } of await responses()) {
      expect(request).toMatchObject({ stream: 'chance', event: events[0]?.eventId });
      expect(Number(request['from'])).toBeLessThanOrEqual(receivedAt / 1e6 - 20);
      expect(Number(request['to'])).toBeGreaterThan(receivedAt / 1e6);
    }
    const at = (await responses()).map(({ receivedAt }) => receivedAt / 1e6);
    expect(Math.max(...at.slice(1).map((time, n) => time - (at[n] ?? 0)))).toBeLessThan(5);
  });

  it('are in a late response, which concerns its event alone', async () => {
    const { server, events } = await exchangeWith(2);
    const [slow] = events.map((event) => event.eventId);
    const settings = { silenceMs: 2000, eventsSchedule: NEVER };
    const rig = await startCollector(server.url, { settings, answerMs: 1500 });
    await rig.waitForEvents('verified', (found) => new Set(found.map(({ event }) => event)).size === 2);
    await server.control('POST', '/faults', { kind: 'late-history', stream: 'chance', eventId: slow, ms: 2500 });
    const traders = new Traders(server.core);
    const random = new Random(1, 'late');
    const [stale] = await rig.waitForEvents('stale', (found) => {
      // The other event shows that the connection works.
      for (const event of events) traders.trade(marketOf(event), random.integer(10, 90));
      return found.length > 0;
    });
    expect(stale).toMatchObject({ stream: 'chance', event: slow });
    const staleAt = stale?.at ?? 0;
    await rig.waitForEvents('verified', (found) => found.some(({ event, at }) => event === slow && at > staleAt));
    const [late] = (await rig.records(TOPICS.chance)).filter(
      ({ body, receivedAt }) => receivedAt > staleAt && isResponseTo(body, slow),
    );
    // It has the range of its own request, which ended 60 s after it was sent.
    expect(late?.request).toMatchObject({ event: slow });
    expect(Number(late?.request['to'])).toBeLessThan(staleAt / 1e6 + 60);
    expect(await rig.events('stale')).toHaveLength(1);
    expect(await rig.events('disconnected')).toEqual([]);
  });
});
