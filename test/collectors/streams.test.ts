import { describe, expect, it } from 'vitest';
import { type RawRecord, TOPICS, type Topic } from '../../core/index.js';
import { marketOf, openEvent, Traders } from '../exchange/server-support.js';
import { until } from '../support/until.js';
import { exchangeWith, metricOf, NEVER, startCollector } from './rig.js';

interface Frame {
  readonly t?: string;
  readonly e?: string;
  readonly o?: readonly string[];
  readonly d?: unknown;
}
const first = <T>(list: readonly T[]): T => {
  const [item] = list;
  if (item === undefined) throw new Error('there is none');
  return item;
};
const framesOf = (records: readonly RawRecord[], type: string, eventId?: string) =>
  records.map((r) => r.body as Frame).filter((f) => f.t === type && (eventId === undefined || f.e === eventId));

describe('the streams of a collector', () => {
  it('record every change of every event that event search finds, in order [6.1/delta]', async () => {
    const { server, events } = await exchangeWith(3);
    const rig = await startCollector(server.url);
    for (const stream of ['order-book', 'chance']) {
      await rig.waitForEvents('subscribed', (found) => found.filter((m) => m.stream === stream).length === 3);
    }
    const traders = new Traders(server.core);
    const event = first(events);
    const market = marketOf(event);
    for (let i = 0; i < 30; i++) traders.trade(market, 20 + i);
    const truth = [...server.core.pricesAfter(0)].map(({ marketId, c, b, a }) => ({ o: marketId, c, b, a }));
    expect(truth.length).toBeGreaterThan(30);
    await until(async () => framesOf(await rig.records(TOPICS.orderBook), 'PRICES_DATA_DELTA').length >= truth.length);
    const deltas = framesOf(await rig.records(TOPICS.orderBook), 'PRICES_DATA_DELTA');
    expect(deltas.flatMap((f) => f.d)).toEqual(truth);
    const live = async () =>
      framesOf(await rig.records(TOPICS.chance), 'probability').flatMap(({ d }) => (d as { p?: number }).p ?? []);
    await until(async () => (await live()).length >= 30);
    expect(await live()).toEqual(Array.from({ length: 30 }, (_, i) => (20 + i) / 100));
    const found = await rig.events('subscribed');
    const own = found.find((m) => m.event === event.eventId && m.stream === 'order-book');
    expect(own?.markets).toEqual(event.markets.map((m) => m.marketId));
  });

  it('name their connection in every record, number the records without a gap, and have the time of receipt', async () => {
    const { server } = await exchangeWith(2);
    const before = Date.now() * 1000;
    const rig = await startCollector(server.url);
    const [connected] = await rig.waitForEvents('connected', (found) => found.some((m) => m.stream === 'order-book'));
    await rig.waitForEvents('subscribed', (found) => found.filter((m) => m.stream === 'order-book').length === 2);
    const records = await rig.records(TOPICS.orderBook);
    expect(records.map((r) => r.sequence)).toEqual(records.map((_, i) => i + 1));
    expect(new Set(records.map((r) => r.sessionId)).size).toBe(1);
    const connection = (await rig.events('connected')).find((m) => m.stream === 'order-book')?.connectionId;
    expect(records.every((r) => r.request['connection'] === connection && r.request['stream'] === 'order-book')).toBe(
      true,
    );
    expect(
      records.every(
        (r) => r.kind === 'order-book.frame' && r.receivedAt >= before && r.receivedAt <= Date.now() * 1000,
      ),
    ).toBe(true);
    expect(connected?.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/(event\/)?ws$/);
  });

  it('subscribe to events that open, and unsubscribe closed ones after their last data', async () => {
    const { server } = await exchangeWith(1);
    const rig = await startCollector(server.url);
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    const event = openEvent(server.core, 'later', [0.4]);
    const { marketId } = marketOf(event);
    await rig.waitForEvents('subscribed', (found) => found.filter((m) => m.event === event.eventId).length === 2);
    server.core.resolveMarket(event.eventId, marketId, 'YES');
    const dropped = await rig.waitForEvents('unsubscribed', (found) => found.length === 2);
    expect(dropped.map((m) => [m.event, m.stream, m.cause]).sort()).toEqual([
      [event.eventId, 'chance', 'the event has closed'],
      [event.eventId, 'order-book', 'the event has closed'],
    ]);
    // Each topic is appended to by itself.
    const lastOf = async (topic: Topic, type: string) =>
      framesOf(await rig.records(topic), type, event.eventId).at(-1)?.d;
    await expect.poll(() => lastOf(TOPICS.orderBook, 'PRICES_DATA_DELTA')).toMatchObject([{ o: marketId, c: 1 }]);
    await expect.poll(() => lastOf(TOPICS.chance, 'probability')).toMatchObject({ p: 1 });
    expect(await metricOf(rig.metrics, 'subscriptions')).toBe(2);
  });

  it('spread events over connections of a bounded number of subscriptions', async () => {
    const { server } = await exchangeWith(7);
    const rig = await startCollector(server.url, { settings: { subscriptionsPerConnection: 3 } });
    const found = await rig.waitForEvents('subscribed', (all) => all.length === 14);
    const perConnection = new Map<string, Set<string>>();
    for (const { connectionId, event } of found) {
      perConnection.set(connectionId, (perConnection.get(connectionId) ?? new Set()).add(event));
    }
    expect([...perConnection.values()].map((events) => events.size).sort()).toEqual([1, 1, 3, 3, 3, 3]);
  });

  it('record a malformed frame verbatim and continue', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings: { eventsSchedule: NEVER } });
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    await server.control('POST', '/faults', { kind: 'malformed-frame', stream: 'order-book' });
    new Traders(server.core).trade(marketOf(first(events)), 33);
    let records: readonly RawRecord[] = [];
    let at = -1;
    await until(async () => {
      records = await rig.records(TOPICS.orderBook);
      at = records.findIndex((r) => r.encoding === 'text');
      return at >= 0 && at + 1 < records.length;
    });
    const whole = JSON.stringify(records[at + 1]?.body);
    expect(records[at]?.body).toBe(whole.slice(0, Math.ceil(whole.length / 2)));
  });
});

describe('a stream that is disconnected', () => {
  it('is reported and reconnected, and its chances are backfilled from history', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url);
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    await server.control('POST', '/faults', { kind: 'drop-connection', stream: 'chance' });
    const [lost] = await rig.waitForEvents('disconnected', (found) => found.length === 1);
    expect(lost).toMatchObject({ stream: 'chance' });
    const subscribed = await rig.waitForEvents('subscribed', (found) => found.length === 3);
    expect(subscribed[2]?.connectionId).not.toBe(lost?.connectionId);
    expect((await rig.events('connected')).map((m) => m.connectionId)).toContain(subscribed[2]?.connectionId);
    const [from, to] = [lost?.at ?? 0, subscribed[2]?.at ?? 0];
    expect(to).toBeGreaterThanOrEqual(from);
    const event = first(events).eventId;
    const markets = subscribed[2]?.markets ?? [];
    await rig.waitForEvents('backfilled', (found) =>
      markets.every((market) => {
        const ranges = found
          .filter((m) => m.market === market && m.event === event)
          .sort((a, b) => a.rangeFrom - b.rangeFrom);
        let covered = ranges[0]?.rangeFrom ?? Number.POSITIVE_INFINITY;
        if (covered > from) return false;
        for (const range of ranges) if (range.rangeFrom <= covered) covered = Math.max(covered, range.rangeTo);
        return covered >= to;
      }),
    );
    expect(await rig.events('stale')).toEqual([]);
  });

  it('is reconnected less and less often while the exchange is unavailable', async () => {
    const { server } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings: { eventsSchedule: NEVER, requestTimeoutMs: 500 } });
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    await server.server.stop();
    await rig.waitForEvents('disconnected', (found) => found.length === 2);
    await until(() => rig.lines.some((l) => l.msg.includes('could not be reached')));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(rig.lines.filter((l) => l.msg.includes('could not be reached'))).toHaveLength(1);
  });
});

describe('a silent subscription', () => {
  const settings = { silenceMs: 300 };

  it('is verified by probes, again and again [6.1/request-data]', async () => {
    const { server } = await exchangeWith(3);
    const rig = await startCollector(server.url, { settings, answerMs: 5000 });
    await rig.waitForEvents('verified', (found) => {
      const events = (stream: string) => new Set(found.filter((m) => m.stream === stream).map((m) => m.event)).size;
      return found.length >= 24 && events('order-book') === 3 && events('chance') === 3;
    });
    expect(await rig.events('stale')).toEqual([]);
    expect(await rig.events('disconnected')).toEqual([]);
  });

  it.each(['order-book', 'chance'] as const)('is stale when the whole %s connection is silent', async (stream) => {
    const { server } = await exchangeWith(2);
    const rig = await startCollector(server.url, { settings });
    await rig.waitForEvents('verified', (found) => found.filter((m) => m.stream === stream).length >= 4);
    await server.control('POST', '/faults', { kind: 'freeze', stream });
    const frozenFrom = Date.now() * 1000;
    const stale = await rig.waitForEvents('stale', (found) => found.length === 2);
    expect(new Set(stale.map((m) => m.event)).size).toBe(2);
    const quiet = await rig.events('verified');
    for (const one of stale) {
      expect(one.stream).toBe(stream);
      expect(one.lastVerifiedAt).toBeLessThanOrEqual(frozenFrom + 300_000);
      const proofs = quiet.filter((m) => m.event === one.event && m.connectionId === one.connectionId);
      expect(one.lastVerifiedAt).toBeGreaterThanOrEqual(proofs.at(-1)?.at ?? frozenFrom);
    }
    const [lost] = await rig.waitForEvents('disconnected', (found) => found.length === 1);
    expect(lost).toMatchObject({ stream, connectionId: stale[0]?.connectionId });
    // It was cut a second later at the earliest; what it carried was whole until its last frame.
    expect(lost?.at).toBeLessThanOrEqual(frozenFrom + 300_000);
    await rig.waitForEvents('subscribed', (found) => found.filter((m) => m.at > (lost?.at ?? 0)).length === 2);
  });

  it('is stale and subscribed again when only its event is silent', async () => {
    const { server, events } = await exchangeWith(2);
    const rig = await startCollector(server.url, { settings });
    await rig.waitForEvents('verified', (found) => found.filter((m) => m.stream === 'order-book').length >= 4);
    const [event, other] = events;
    await server.control('POST', '/faults', {
      kind: 'freeze',
      stream: 'order-book',
      eventId: event?.eventId,
      ms: 3000,
    });
    const [stale] = await rig.waitForEvents('stale', (found) => found.length > 0);
    expect(stale).toMatchObject({ event: event?.eventId, stream: 'order-book' });
    await rig.waitForEvents('subscribed', (found) =>
      found.some((m) => m.event === event?.eventId && m.at > (stale?.at ?? 0)),
    );
    expect((await rig.events('stale')).some((m) => m.event === other?.eventId && m.stream === 'order-book')).toBe(
      false,
    );
  });

  it.each(['order-book', 'chance'] as const)('of the %s stream is stale when a change was skipped', async (stream) => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings });
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    const event = first(events);
    const traders = new Traders(server.core);
    const market = marketOf(event);
    traders.trade(market, 41);
    await rig.waitForEvents('verified', (found) => found.some((m) => m.stream === stream));
    // A trade in an empty book makes several deltas; the last one is what remains.
    const deltas = stream === 'chance' ? 1 : 3;
    await server.control('POST', '/faults', { kind: 'skip-delta', stream, count: deltas });
    traders.trade(market, 42);
    const traded = Date.now() * 1000;
    const [stale] = await rig.waitForEvents('stale', (found) => found.length === 1);
    expect(stale).toMatchObject({
      stream,
      event: event?.eventId,
      cause: 'the exchange states other values for 1 of its markets',
    });
    // It is noticed 1.5 s later at the earliest, and the last proof was on its way by then at the latest.
    expect(stale?.lastVerifiedAt).toBeLessThan(traded + 1_000_000);
    expect(stale?.at).toBeGreaterThan(traded + 1_000_000);
    await rig.waitForEvents('subscribed', (found) => found.some((m) => m.stream === stream && m.at > (stale?.at ?? 0)));
  });
});
