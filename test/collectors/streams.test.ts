import { describe, expect } from 'vitest';
import { type RawRecord, TOPICS, type Topic } from '../../core/index.js';
import { marketOf, openEvent, Traders } from '../exchange/server-support.js';
import { atEnd, concurrentIt as it } from '../support/at-end.js';
import { ResumedClock } from '../support/clocks.js';
import { until } from '../support/until.js';
import { type CollectorRig, exchangeWith, metricOf, NEVER, startCollector } from './rig.js';

interface Frame {
  readonly t?: string;
  readonly e?: string;
  readonly o?: readonly string[];
  readonly d?: unknown;
}
interface Priced {
  readonly c: number;
}
const first = <T>(list: readonly T[]): T => {
  const [item] = list;
  if (item === undefined) throw new Error('there is none');
  return item;
};
const framesOf = (records: readonly RawRecord[], type: string, eventId?: string) =>
  records.map((r) => r.body as Frame).filter((f) => f.t === type && (eventId === undefined || f.e === eventId));

describe.concurrent('the streams of a collector', () => {
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
    await until(async () => {
      const prices = (await lastOf(TOPICS.orderBook, 'PRICES_DATA_DELTA')) as { o: string; c: number }[] | undefined;
      return prices?.[0]?.o === marketId && prices[0].c === 1;
    });
    await until(async () => ((await lastOf(TOPICS.chance, 'probability')) as { p?: number } | undefined)?.p === 1);
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

describe.concurrent('the order book stream', () => {
  const rare = { silenceMs: 60_000, auditMs: 60_000, eventsSchedule: NEVER };
  const subscribed = (rig: CollectorRig) => rig.waitForEvents('subscribed', (found) => found.length === 2);

  it('is recorded with the numbers of the entries that repeat the one before them', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings: rare });
    await subscribed(rig);
    await server.control('POST', '/faults', { kind: 'duplicate-delta', stream: 'order-book', count: 2 });
    const traders = new Traders(server.core);
    traders.trade(marketOf(first(events)), 33);
    const deltas = async () =>
      (await rig.records(TOPICS.orderBook)).filter(({ body }) => (body as Frame).t === 'PRICES_DATA_DELTA');
    await until(async () => (await deltas()).length >= 4);
    traders.trade(marketOf(first(events)), 34);
    await until(async () => (await deltas()).length >= 6);
    const found = await deltas();
    const repeated = found.map(({ request }) => request['repeated']);
    expect(repeated.slice(0, 4)).toEqual([undefined, [0], undefined, [0]]);
    expect(repeated.slice(4).every((numbers) => numbers === undefined)).toBe(true);
    expect(found[1]?.body).toEqual(found[0]?.body);
    expect(found[1]?.request).toEqual({ ...found[0]?.request, repeated: [0] });
  });

  it('is recorded, like the chance stream, with the numbers of repeated points', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings: rare });
    await subscribed(rig);
    const traders = new Traders(server.core);
    const live = async () =>
      (await rig.records(TOPICS.chance)).filter(
        ({ body }) => (body as Frame).t === 'probability' && typeof (body as { d: { p?: unknown } }).d.p === 'number',
      );
    await server.control('POST', '/faults', { kind: 'duplicate-delta', stream: 'chance' });
    traders.trade(marketOf(first(events)), 33);
    await until(async () => (await live()).length === 2);
    traders.trade(marketOf(first(events)), 34);
    await until(async () => (await live()).length === 3);
    const found = await live();
    expect(found.map(({ request }) => request['repeated'])).toEqual([undefined, [0], undefined]);
    expect(found[1]?.body).toEqual(found[0]?.body);
  });

  it('is audited while it is busy: a skipped change makes a gap since the last equal audit', async () => {
    const { server } = await exchangeWith(0);
    const event = openEvent(server.core, 'busy', [0.4, 0.6]);
    const [lost, busy] = [marketOf(event, 0), marketOf(event, 1)];
    const rig = await startCollector(server.url, { settings: { ...rare, auditMs: 700 } });
    await subscribed(rig);
    const traders = new Traders(server.core);
    traders.trade(lost, 41);
    const count = [...server.core.pricesAfter(0)].length;
    await rig.waitForEvents('audited', (found) => found.some(({ changed }) => changed === 1));
    await server.control('POST', '/faults', { kind: 'skip-delta', stream: 'order-book', count });
    traders.trade(lost, 42);
    let cents = 50;
    const trading = setInterval(() => traders.trade(busy, 50 + (cents++ % 20)), 25);
    atEnd(() => clearInterval(trading));
    const audits = await rig.waitForEvents('audited', (found) => found.some(({ mismatches }) => mismatches.length > 0));
    const at = audits.findIndex(({ mismatches }) => mismatches.length > 0);
    expect(audits[at]).toMatchObject({ reason: 'interval', compared: 2, missed: 1, late: 0 });
    expect(audits[at]?.mismatches).toEqual([
      { market: lost.marketId, ours: { last: 0.41, bid: 0, ask: 1 }, theirs: { last: 0.42, bid: 0, ask: 1 } },
    ]);
    expect(audits[at]?.changes).toBeGreaterThan(0);
    expect(audits[at]?.lastEqualAt).toBe(audits[at - 1]?.at);
    const [stale] = await rig.waitForEvents('stale', (found) => found.length > 0);
    expect(stale).toMatchObject({ event: event.eventId, cause: 'diverged', lastVerifiedAt: audits[at]?.lastEqualAt });
    await rig.waitForEvents('subscribed', (found) => found.some((one) => one.at > (stale?.at ?? 0)));
    expect(await metricOf(rig.metrics, 'audit_mismatches_total')).toBe(1);
  });

  it('is audited, without a gap, when the chance stream lacks a change', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings: rare });
    await subscribed(rig);
    await server.control('POST', '/faults', { kind: 'skip-delta', stream: 'chance' });
    new Traders(server.core).trade(marketOf(first(events)), 55);
    const traded = Date.now() * 1000;
    const [audit] = await rig.waitForEvents('audited', (found) => found.length > 0);
    expect(audit).toMatchObject({ reason: 'difference', compared: 1, mismatches: [] });
    expect(audit?.at).toBeGreaterThan(traded + 1_900_000);
    expect(await rig.events('stale')).toEqual([]);
  });

  it('is audited when it lacks a change of the last price that the chance stream has', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings: rare });
    await subscribed(rig);
    await server.control('POST', '/faults', { kind: 'skip-delta', stream: 'order-book', count: 3 });
    new Traders(server.core).trade(marketOf(first(events)), 55);
    const [stale] = await rig.waitForEvents('stale', (found) => found.length > 0);
    expect(stale).toMatchObject({ stream: 'order-book', cause: 'diverged' });
    const [audit] = await rig.events('audited');
    expect(audit).toMatchObject({ reason: 'difference', mismatches: [{ theirs: { last: 0.55 } }] });
  });

  it('has a gap in which its changes waited to be read, since their times are not known', async () => {
    const { server, events } = await exchangeWith(2);
    const clock = new ResumedClock();
    const rig = await startCollector(server.url, { settings: rare, clock });
    await rig.waitForEvents('subscribed', (found) => found.length === 4);
    const changed = first(events);
    const traders = new Traders(server.core);
    traders.trade(marketOf(changed), 40);
    const deltas = async () => framesOf(await rig.records(TOPICS.orderBook), 'PRICES_DATA_DELTA');
    await until(async () => (await deltas()).length > 0);
    // As after a stop: the time has passed and the changes are there, when the collector reads and its timers run again.
    clock.stoppedMs = 60_000;
    traders.trade(marketOf(changed), 41);
    const [stale] = await rig.waitForEvents('stale', (found) => found.length > 0);
    const about = { stream: 'order-book', event: changed.eventId };
    expect(stale).toMatchObject({ ...about, cause: 'changes were read up to 60 s late' });
    expect(stale?.lastVerifiedAt).toBeLessThan(stale?.at ?? 0);
    const again = await rig.waitForEvents('subscribed', (found) => found.some((one) => one.at > (stale?.at ?? 0)));
    expect(again.filter((one) => one.at > (stale?.at ?? 0))).toMatchObject([about]);
    const before = (await deltas()).length;
    traders.trade(marketOf(changed), 42);
    await until(async () => (await deltas()).length > before);
    expect(await rig.events('stale')).toHaveLength(1);
  });

  it('has diverged, too, when its connection is lost while an audit is unequal', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings: { ...rare, auditMs: 300 } });
    await rig.waitForEvents('audited', (found) => found.length > 0);
    await server.control('POST', '/faults', { kind: 'skip-delta', stream: 'order-book', count: 3 });
    new Traders(server.core).trade(marketOf(first(events)), 55);
    const snapshotAt = async () =>
      framesOf(await rig.records(TOPICS.orderBook), 'PRICES_DATA').findIndex(({ d }) => (d as Priced[])[0]?.c === 0.55);
    await until(async () => (await snapshotAt()) >= 0);
    await server.control('POST', '/faults', { kind: 'drop-connection', stream: 'order-book' });
    await rig.waitForEvents('disconnected', (found) => found.length === 1);
    const [stale] = await rig.events('stale');
    expect(stale).toMatchObject({ stream: 'order-book', cause: 'diverged' });
    expect((await rig.events('audited')).at(-1)?.mismatches).toHaveLength(1);
  });
});

describe.concurrent('a stream that is disconnected', () => {
  it('is reported and reconnected, and its chances are backfilled from history', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url);
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    await server.control('POST', '/faults', { kind: 'drop-connection', stream: 'chance' });
    const [lost] = await rig.waitForEvents('disconnected', (found) => found.length === 1);
    expect(lost).toMatchObject({ stream: 'chance' });
    const frames = (await rig.records(TOPICS.chance)).filter((r) => r.request['connection'] === lost?.connectionId);
    expect(lost?.at).toBe(frames.at(-1)?.receivedAt);
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

  it('by a frame above 16 MiB records its length and first bytes, and the time of the last frame before it', async () => {
    const { server, events } = await exchangeWith(1);
    const rig = await startCollector(server.url, { settings: { eventsSchedule: NEVER } });
    await rig.waitForEvents('subscribed', (found) => found.length === 2);
    await server.control('POST', '/faults', { kind: 'oversized-frame', stream: 'order-book' });
    new Traders(server.core).trade(marketOf(first(events)), 33);
    const [lost] = await rig.waitForEvents('disconnected', (found) => found.length === 1);
    expect(lost).toMatchObject({ stream: 'order-book', cause: 'frame too large' });
    await rig.waitForEvents('subscribed', (found) => found.length === 3);
    const records = (await rig.records(TOPICS.orderBook)).filter((r) => r.request['connection'] === lost?.connectionId);
    expect(lost?.at).toBe(records.at(-2)?.receivedAt);
    const { request, encoding, body } = records.at(-1) as RawRecord;
    expect(request).toMatchObject({ stream: 'order-book', connection: lost?.connectionId });
    const start = String(body).trimEnd();
    expect(JSON.parse(start)).toMatchObject({ t: 'PRICES_DATA_DELTA', e: first(events).eventId });
    expect([encoding, String(body).length]).toEqual(['text', 4096]);
    expect(request['oversized']).toEqual({ declaredBytes: 16 * 1024 * 1024 + start.length });
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

describe.concurrent('a silent subscription', () => {
  const settings = { silenceMs: 300, auditMs: 300 };
  /** The event that says that a probe returned the known values. */
  const verification = { 'order-book': 'audited', chance: 'verified' } as const;

  it('is verified by probes, again and again [6.1/request-data]', async () => {
    const { server } = await exchangeWith(3);
    const rig = await startCollector(server.url, { settings });
    for (const type of Object.values(verification)) {
      await rig.waitForEvents(type, (found) => found.length >= 12 && new Set(found.map((m) => m.event)).size === 3);
    }
    expect((await rig.events('audited')).every((audit) => audit.mismatches.length === 0)).toBe(true);
    expect(await rig.events('stale')).toEqual([]);
    expect(await rig.events('disconnected')).toEqual([]);
  });

  it.each(['order-book', 'chance'] as const)('is stale when the whole %s connection is silent', async (stream) => {
    const { server } = await exchangeWith(2);
    const rig = await startCollector(server.url, { settings });
    await rig.waitForEvents(verification[stream], (found) => found.length >= 4);
    await server.control('POST', '/faults', { kind: 'freeze', stream });
    const frozenFrom = Date.now() * 1000;
    const stale = await rig.waitForEvents('stale', (found) => found.length === 2);
    expect(new Set(stale.map((m) => m.event)).size).toBe(2);
    const quiet = await rig.events(verification[stream]);
    for (const one of stale) {
      expect(one.stream).toBe(stream);
      expect(one.lastVerifiedAt).toBeLessThanOrEqual(frozenFrom + 300_000);
      const proofs = quiet.filter((m) => m.event === one.event && m.connectionId === one.connectionId);
      expect(one.lastVerifiedAt).toBeGreaterThanOrEqual(proofs.at(-1)?.at ?? frozenFrom);
    }
    const [lost] = await rig.waitForEvents('disconnected', (found) => found.length === 1);
    expect(lost).toMatchObject({ stream, connectionId: stale[0]?.connectionId });
    // It was closed a second later at the earliest; its data was complete until its last frame.
    expect(lost?.at).toBeLessThanOrEqual(frozenFrom + 300_000);
    await rig.waitForEvents('subscribed', (found) => found.filter((m) => m.at > (lost?.at ?? 0)).length === 2);
  });

  it.each(['order-book', 'chance'] as const)(
    'ends with the last frame, in heartbeats and at shutdown, while the %s connection is not yet known to be stale',
    async (stream) => {
      const { server, events } = await exchangeWith(1);
      // Nothing finds out that it is stale.
      const rig = await startCollector(server.url, { settings: { silenceMs: 600_000, auditMs: 600_000 } });
      const connections = await rig.waitForEvents('subscribed', (found) => found.length === 2);
      const idOf = (name: string) => connections.find((one) => one.stream === name)?.connectionId ?? '';
      await server.control('POST', '/faults', { kind: 'freeze', stream });
      const frozenFrom = Date.now() * 1000;
      const other = stream === 'chance' ? 'order-book' : 'chance';
      const traders = new Traders(server.core);
      const market = marketOf(first(events));
      let cents = 40;
      const beats = await rig.waitForEvents('heartbeat', (found) => {
        cents = cents === 40 ? 41 : 40;
        traders.trade(market, cents);
        return (found.at(-1)?.lastFrames[idOf(other)] ?? 0) > frozenFrom + 1_000_000;
      });
      expect(beats.at(-1)?.lastFrames[idOf(stream)]).toBeLessThanOrEqual(frozenFrom + 300_000);
      await rig.collector.stop();
      expect(await rig.events('stale')).toEqual([]);
      const ends = await rig.events('disconnected');
      expect(ends.find((one) => one.stream === stream)?.at).toBeLessThanOrEqual(frozenFrom + 300_000);
      expect(ends.find((one) => one.stream === other)?.at).toBeGreaterThan(frozenFrom + 1_000_000);
    },
  );

  it('is stale and subscribed again when only its event is silent', async () => {
    const { server, events } = await exchangeWith(2);
    // Audits alone: after silence, one event is probed for the whole connection.
    const audited = { ...settings, silenceMs: 60_000 };
    const rig = await startCollector(server.url, { settings: audited, answerMs: 1500 });
    await rig.waitForEvents('audited', (found) => new Set(found.map((m) => m.event)).size === 2);
    const [event, other] = events;
    await server.control('POST', '/faults', {
      kind: 'freeze',
      stream: 'order-book',
      eventId: event?.eventId,
      // Longer than until the next audit of the event; its response is lost.
      ms: 4000,
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
    await rig.waitForEvents(verification[stream], (found) => found.length > 0);
    // A trade in an empty book causes several deltas; the last one is the resulting state.
    const deltas = stream === 'chance' ? 1 : 3;
    await server.control('POST', '/faults', { kind: 'skip-delta', stream, count: deltas });
    traders.trade(market, 42);
    const traded = Date.now() * 1000;
    const [stale] = await rig.waitForEvents('stale', (found) => found.length === 1);
    expect(stale).toMatchObject({
      stream,
      event: event?.eventId,
      cause: 'diverged',
    });
    // It is noticed 1.5 s later at the earliest, and the last proof was on its way by then at the latest.
    expect(stale?.lastVerifiedAt).toBeLessThan(traded + 1_000_000);
    expect(stale?.at).toBeGreaterThan(traded + 1_000_000);
    await rig.waitForEvents('subscribed', (found) => found.some((m) => m.stream === stream && m.at > (stale?.at ?? 0)));
  });
});
