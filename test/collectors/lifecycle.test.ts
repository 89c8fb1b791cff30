import { describe, expect, it } from 'vitest';
import { type CollectorEvent, deferred, type RawRecord, TOPICS } from '../../core/index.js';
import { marketOf, openEvent, Traders } from '../exchange/server-support.js';
import { startTestExchange } from '../support/exchange.js';
import { freePort } from '../support/free-ports.js';
import { until } from '../support/until.js';
import { type EventOf, eventsOf, exchangeWith, metricOf, NEVER, startCollector } from './rig.js';

const isSearch = ({ operation }: EventOf<'poll'>) => operation === 'event-search';

describe('a collector', () => {
  it('starts a session, writes heartbeats, and ends the session after everything is on the bus', async () => {
    const { server, events } = await exchangeWith(2);
    const rig = await startCollector(server.url, { settings: { collectorName: 'first' } });
    await rig.waitForEvents('subscribed', (found) => found.length === 4);
    await rig.waitForEvents('heartbeat', (found) => found.length >= 2);
    const traders = new Traders(server.core);
    for (let i = 0; i < 50; i++) for (const event of events) traders.trade(marketOf(event), 10 + i);
    await rig.stop();
    const found = await rig.records(TOPICS.collectorEvents);
    expect(found[0]?.body).toMatchObject({ type: 'session-started', collector: 'first', shard: '0/1' });
    expect(found.at(-1)?.body).toEqual({ type: 'session-stopped', cause: 'clean shutdown' });
    expect(found.map((r) => r.sequence)).toEqual(found.map((_, i) => i + 1));
    const alive = eventsOf(found, 'heartbeat');
    for (let i = 1; i < alive.length; i++) {
      expect(alive[i]?.at).toBeGreaterThanOrEqual(alive[i - 1]?.at ?? 0);
    }
    const last = alive.at(-1);
    for (const topic of [TOPICS.orderBook, TOPICS.chance, TOPICS.reference]) {
      const records = await rig.records(topic);
      expect(last?.acknowledged[topic]).toBe(records.at(-1)?.sequence);
      expect(records.every((r) => r.receivedAt <= (found.at(-1)?.receivedAt ?? 0))).toBe(true);
    }
    expect(eventsOf(found, 'disconnected').map((m) => m.cause)).toEqual(['closed by us', 'closed by us']);
  });

  it('acknowledges in every heartbeat only records that are on the bus', async () => {
    const { server } = await exchangeWith(3);
    await server.control('POST', '/load', { framesPerSecond: 2000 });
    const rig = await startCollector(server.url);
    await rig.waitForEvents('heartbeat', (found) => found.length >= 3);
    await rig.stop();
    const [found, books] = [await rig.records(TOPICS.collectorEvents), await rig.records(TOPICS.orderBook)];
    for (const alive of eventsOf(found, 'heartbeat')) {
      const acknowledged = alive.acknowledged[TOPICS.orderBook] ?? 0;
      const received = books.filter((r) => r.receivedAt <= alive.at).length;
      expect(acknowledged).toBeGreaterThanOrEqual(received);
    }
  });

  it('waits for an unavailable exchange with one clear log line, and starts when it is available', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const rig = await startCollector(url);
    // One search per second, each with its own retries; the other lists are requested once.
    const searches = await rig.waitForEvents('poll', (found) => found.filter(isSearch).length >= 3);
    expect(searches.map(({ outcome }) => outcome)).toEqual(searches.map(() => 'failed'));
    const complaints = rig.lines.filter((l) => l.level >= 40).map((l) => l.msg);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(/the exchange could not be reached; check its address and that it runs .*retrying/);
    expect(rig.collector.health().ok).toBe(true);
    await startTestExchange({ events: 0, port });
    await rig.waitForEvents('poll', (found) => found.some((m) => isSearch(m) && m.outcome === 'complete'));
    expect(rig.lines.some((l) => l.msg === 'the exchange is back')).toBe(true);
  });

  it('pauses its sockets while the bus is behind, loses nothing, and resumes', async () => {
    const { server } = await exchangeWith(5);
    const rig = await startCollector(server.url, { queueBytes: 200_000, settings: { eventsSchedule: NEVER } });
    await rig.waitForEvents('subscribed', (found) => found.length === 10);
    const { append } = rig.bus;
    const { promise: gate, resolve: open } = deferred();
    rig.bus.append = async (...args) => {
      await gate;
      return append.apply(rig.bus, args);
    };
    await server.control('POST', '/load', { framesPerSecond: 5000 });
    await until(async () => (await metricOf(rig.metrics, 'pauses_total')) > 0);
    const held = await metricOf(rig.metrics, 'frames_total');
    const sent = async (): Promise<number> => (await server.control('GET', '/load')).body.sent;
    const before = await sent();
    await until(async () => (await sent()) > before + 2000);
    // Frames that were buffered when the socket was paused still arrive; the load does not.
    expect((await metricOf(rig.metrics, 'frames_total')) - held).toBeLessThan(1000);
    expect(await metricOf(rig.metrics, 'queue_bytes')).toBeLessThan(600_000);
    open();
    await server.control('POST', '/load', { framesPerSecond: 0 });
    const { body: load } = await server.control('GET', '/load');
    const deltas = (records: readonly RawRecord[]) =>
      records.filter((r) => (r.body as { t?: string }).t === 'PRICES_DATA_DELTA').length;
    await until(async () => deltas(await rig.records(TOPICS.orderBook)) >= load.sent);
    expect(deltas(await rig.records(TOPICS.orderBook))).toBe(load.sent);
    expect(await rig.events('stale')).toEqual([]);
  });

  it('stops although the bus accepts nothing, and reports the lost records', async () => {
    const { server } = await exchangeWith(1);
    const rig = await startCollector(server.url);
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    rig.bus.append = () => new Promise(() => undefined);
    await until(() => rig.collector.health().ok);
    await rig.stop();
    expect(
      rig.lines.some((l) => /\d+ received records could not be appended to the bus and are lost/.test(l.msg)),
    ).toBe(true);
  });

  it('refuses settings that cannot be used, in one line', async () => {
    const { server } = await exchangeWith(0);
    await expect(startCollector(server.url, { settings: { eventsSchedule: 'often' } })).rejects.toThrow(
      /--events-schedule is "often", which is not a cron pattern \(.*\); use one like "\*\/10 \* \* \* \* \*"/,
    );
    await expect(startCollector('http://example.com')).rejects.toThrow('is not encrypted');
    await expect(startCollector(server.url, { settings: { historyPeriod: '5m' } })).rejects.toThrow(
      'period is "5m"; give',
    );
  });

  it('starts a new session each time, on the same topics', async () => {
    const server = await startTestExchange({ events: 0 });
    openEvent(server.core, 'one', [0.5]);
    const one = await startCollector(server.url);
    await one.waitForEvents('subscribed', (found) => found.length === 2);
    await one.stop();
    const two = await startCollector(server.url, { data: one.data, bus: one.bus });
    await two.waitForEvents('subscribed', (found) => found.length === 4);
    const found = await one.records(TOPICS.collectorEvents);
    const sessions = found.filter((r) => (r.body as CollectorEvent).type === 'session-started').map((r) => r.sessionId);
    expect(new Set(sessions).size).toBe(2);
  });
});
