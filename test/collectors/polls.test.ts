import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type RawRecord, type RecordKind, TOPICS } from '../../core/index.js';
import type { EventView } from '../../exchange/engine/index.js';
import { marketOf, openEvent, Traders } from '../exchange/server-support.js';
import { concurrentIt as it } from '../support/at-end.js';
import { ShiftedClock } from '../support/clocks.js';
import { startTestExchange } from '../support/exchange.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { exchangeWith, NEVER, startCollector } from './rig.js';

describe.concurrent('the poll of event search', () => {
  it('reads all pages, records each verbatim, and writes a receipt', async () => {
    const { server } = await exchangeWith(25, 'max-page-size=10');
    const rig = await startCollector(server.url, { settings: { eventsSchedule: NEVER } });
    const receipts = await rig.waitForEvents('poll', (found) => found.some((m) => m.operation === 'event-search'));
    const receipt = receipts.find((m) => m.operation === 'event-search');
    expect(receipt).toMatchObject({
      expectedItems: 25,
      receivedItems: 25,
      distinctItems: 25,
      pages: 3,
      truncated: false,
      outcome: 'complete',
    });
    const pages = (await rig.records(TOPICS.reference)).filter((r) => r.kind === 'reference.events');
    expect(pages.map((r) => r.request['page'])).toEqual([0, 1, 2]);
    expect(pages.every((r) => r.request['poll'] === receipt?.pollId && r.request['status'] === 200)).toBe(true);
    const answer = await server.post('/api/events/search?page=1&size=100', { sb: 'OLDEST' });
    expect(pages[1]?.body).toEqual(answer.body);
    await rig.waitForEvents('subscribed', (found) => found.length === 50);
  });

  it('closes no event when a page could not be read', async () => {
    const { server } = await exchangeWith(15, 'max-page-size=10');
    const rig = await startCollector(server.url);
    await rig.waitForEvents('subscribed', (found) => found.length === 30);
    const before = (await rig.events('poll')).length;
    // More faults than all concurrent requests (this poll's and those of the other polls) have retries: one fails for good.
    await server.control('POST', '/faults', { kind: 'http-500', stream: 'rest', count: 50 });
    const failed = await rig.waitForEvents('poll', (found) =>
      found.slice(before).some((m) => m.outcome !== 'complete'),
    );
    expect(failed.some((m) => m.outcome === 'failed' && m.cause.includes('500'))).toBe(true);
    await rig.waitForEvents('poll', (found) => found.at(-1)?.outcome === 'complete' && found.length > before + 3);
    expect(await rig.events('unsubscribed')).toEqual([]);
    const statuses = (await rig.records(TOPICS.reference)).map((r) => r.request['status']);
    expect(statuses.filter((s) => s === 500).length).toBeGreaterThan(1);
  });
});

describe.concurrent('unchanged entries', () => {
  interface Page {
    readonly at: number;
    readonly ids: readonly string[];
    readonly unchanged: readonly string[];
  }

  /** The pages of a list, with the IDs of all entries and of the unchanged ones. */
  function pagesOf(records: readonly RawRecord[], kind: RecordKind): Page[] {
    return records
      .filter((record) => record.kind === kind)
      .map(({ receivedAt: at, request, body }) => {
        const ids =
          kind === 'reference.events' ? eventIds(body) : (body as { i?: string; n: string }[]).map((e) => e.i ?? e.n);
        const ranges = (request['unchanged'] ?? []) as { since: number; from: number; to: number }[];
        expect(ranges.every(({ since }) => since < at)).toBe(true);
        return { at, ids, unchanged: ranges.flatMap(({ from, to }) => ids.slice(from, to + 1)) };
      });
  }
  const eventIds = (body: unknown) =>
    (body as { content: { id: string; outcomes: { marketId: string }[] }[] }).content.flatMap(({ id, outcomes }) => [
      id,
      ...outcomes.map(({ marketId }) => marketId),
    ]);
  const EVENTS = 'reference.events';

  it('are marked, and changed and new ones are not; a new session begins with none', async () => {
    const server = await startTestExchange({ events: 0 });
    const events = [openEvent(server.core, 'one', [0.3, 0.4]), openEvent(server.core, 'two', [0.5])];
    const [one, two] = events.map(({ eventId }) => eventId);
    const markets = events.flatMap((event) => event.markets.map(({ marketId }) => marketId));
    const rig = await startCollector(server.url);
    const pages = async () => pagesOf(await rig.records(TOPICS.reference), EVENTS);
    await until(async () => (await pages()).length >= 3);
    const [first, ...later] = await pages();
    expect([first?.ids.length, first?.unchanged]).toEqual([5, []]);
    expect(later[0]?.unchanged.toSorted()).toEqual([one, two, ...markets].toSorted());
    new Traders(server.core).trade(marketOf(events[0] as EventView), 77);
    const third = openEvent(server.core, 'three', [0.5]);
    await until(async () =>
      (await pages()).some(({ ids, unchanged }) => ids.includes(third.eventId) && unchanged.length < 7),
    );
    const changed = (await pages()).find(({ ids }) => ids.includes(third.eventId));
    const unchanged = new Set(changed?.unchanged);
    expect([two, markets[1], markets[2]].filter((id) => !unchanged.has(id ?? ''))).toEqual([]);
    expect([third.eventId, third.markets[0]?.marketId].filter((id) => unchanged.has(id ?? ''))).toEqual([]);
    // The price of its market and its volume are others than in the first page.
    const states = (await pages()).filter(({ unchanged: same }) => !same.includes(one ?? ''));
    const prices = (await pages()).filter(({ unchanged: same }) => !same.includes(markets[0] ?? ''));
    expect([states.length, prices.length]).toEqual([2, 2]);
    await rig.stop();
    const again = await startCollector(server.url);
    const [begun] = await again
      .waitForEvents('poll', (found) => found.some((m) => m.operation === 'event-search'))
      .then(async () => pagesOf(await again.records(TOPICS.reference), EVENTS));
    expect(begun?.unchanged).toEqual([]);
  });

  it('are none in the first poll of an hour', async () => {
    const { server } = await exchangeWith(3);
    const clock = new ShiftedClock();
    const rig = await startCollector(server.url, { clock, settings: { referenceSchedule: '* * * * * *' } });
    const kinds = [EVENTS, 'reference.categories'] as const;
    const hourOf = (micros: number) => Math.floor(micros / 3.6e9);
    const full = async (kind: RecordKind, since: number) =>
      pagesOf(await rig.records(TOPICS.reference), kind).filter(
        ({ at, unchanged }) => at >= since && unchanged.length === 0,
      );
    const marked = async (since: number) => {
      const records = await rig.records(TOPICS.reference);
      return kinds.every((kind) =>
        pagesOf(records, kind).some(({ at, unchanged }) => at >= since && unchanged.length > 0),
      );
    };
    await until(() => marked(0));
    clock.seconds += 3600;
    const shifted = clock.nowMicros();
    await until(() => marked(shifted));
    for (const kind of kinds) {
      const pages = await full(kind, 0);
      expect(pages.map(({ at }) => hourOf(at))).toEqual([...new Set(pages.map(({ at }) => hourOf(at)))]);
      expect(pages.some(({ at }) => at >= shifted)).toBe(true);
    }
  });
});

describe.concurrent('the poll of reference data', () => {
  it('records categories, tags and coins with a receipt each', async () => {
    const { server } = await exchangeWith(1);
    const rig = await startCollector(server.url);
    const operations = ['categories', 'popular-tags', 'coins'];
    const receipts = await rig.waitForEvents('poll', (found) =>
      operations.every((o) => found.some((m) => m.operation === o)),
    );
    const records = await rig.records(TOPICS.reference);
    for (const [kind, operation, path] of [
      ['reference.categories', 'categories', '/api/categories'],
      ['reference.tags', 'popular-tags', '/api/tags/popular?limit=100'],
      ['reference.coins', 'coins', '/api/coins'],
    ]) {
      expect(receipts.find((m) => m.operation === operation)).toMatchObject({ outcome: 'complete', cause: '' });
      const ids = (body: unknown) => (body as { i?: string; n: string }[]).map(({ i, n }) => [i, n]);
      expect(ids(records.find((r) => r.kind === kind)?.body)).toEqual(ids((await server.get(path ?? '')).body));
    }
  });
});

describe.concurrent('the poll of chance history', () => {
  const points = (records: readonly { body: unknown }[]) =>
    records.flatMap((r) => r.body as { t: number; p: number }[]);

  /** Waits until the second of a time, Unix microseconds, is within the poll's range: completed a second ago. */
  const secondIsHistory = (micros: number) => until(() => Date.now() / 1000 >= Math.floor(micros / 1e6) + 2);

  it('fetches each market from its opening, once, and reports the ranges', async () => {
    const server = await startTestExchange({ events: 0 });
    const event = openEvent(server.core, 'one', [0.3]);
    const market = marketOf(event);
    const traders = new Traders(server.core);
    traders.trade(market, 44);
    await secondIsHistory(Date.now() * 1000);
    const rig = await startCollector(server.url, { settings: { eventsSchedule: NEVER } });
    const [backfilled] = await rig.waitForEvents('backfilled', (found) => found.length === 1);
    const opened = Math.floor(event.createdAt / 1e6);
    expect(backfilled).toMatchObject({ event: event.eventId, market: market.marketId });
    expect(backfilled?.rangeFrom).toBeLessThanOrEqual(opened * 1e6);
    expect(backfilled?.rangeTo).toBeGreaterThan(event.createdAt);
    const records = (await rig.records(TOPICS.chance)).filter((r) => r.kind === 'chance.history');
    expect(points(records).some((p) => p.p === 0.44)).toBe(true);
    expect(records[0]?.request).toMatchObject({
      event: event.eventId,
      market: market.marketId,
      period: '1s',
      status: 200,
    });
    const found = await rig.waitForEvents('poll', (all) => all.some((m) => m.operation === 'chance-history'));
    const receipts = found.filter((m) => m.operation === 'chance-history');
    expect(receipts).toHaveLength(1);
    expect(receipts[0]).toMatchObject({ subject: market.marketId, outcome: 'complete', truncated: false });
  });

  it('resumes after a restart, and starts from the beginning without its state file', async () => {
    const { server, events } = await exchangeWith(1);
    await secondIsHistory(events[0]?.createdAt ?? 0);
    const data = temporaryFolder();
    const once = async () => {
      const rig = await startCollector(server.url, { data, settings: { eventsSchedule: NEVER } });
      const found = await rig.waitForEvents('backfilled', (all) => all.some((m) => m.at > started));
      await rig.stop();
      await rig.bus.close();
      return found.find((m) => m.at > started);
    };
    let started = Date.now() * 1000;
    const first = await once();
    await secondIsHistory(first?.rangeTo ?? 0);
    started = Date.now() * 1000;
    const second = await once();
    expect(second?.rangeFrom).toBe((first?.rangeTo ?? 0) - 2_000_000);
    expect([first?.fetchedFrom, second?.fetchedFrom]).toEqual([first?.rangeFrom, first?.rangeFrom]);
    const state = join(data, 'collector', 'chance-history.json');
    const { markets } = JSON.parse(await readFile(state, 'utf8'));
    expect(markets).toEqual({
      [events[0]?.markets[0]?.marketId ?? '']: {
        event: events[0]?.eventId,
        until: (second?.rangeTo ?? 0) / 1e6,
        from: (first?.rangeFrom ?? 0) / 1e6,
      },
    });
    await writeFile(state, '{"version":1,"mar');
    started = Date.now() * 1000;
    const third = await once();
    expect(third?.rangeFrom).toBe(first?.rangeFrom);
  });

  it('fetches a closed event once more to its end, also when it closed while the collector was stopped', async () => {
    const { server, events } = await exchangeWith(2);
    const data = temporaryFolder();
    const rig = await startCollector(server.url, { data });
    await rig.waitForEvents('subscribed', (found) => found.length === 4);
    const [one, two] = events.map((e) => ({ event: e, market: marketOf(e) }));
    if (!one || !two) throw new Error('two events were opened');
    const closedAt = Date.now() * 1000;
    server.core.resolveMarket(one.event.eventId, one.market.marketId, 'NO');
    await rig.waitForEvents('backfilled', (found) =>
      found.some((m) => m.event === one.event.eventId && m.rangeTo > closedAt),
    );
    await rig.stop();
    await rig.bus.close();
    const closedAlone = Date.now() * 1000;
    server.core.resolveMarket(two.event.eventId, two.market.marketId, 'YES');
    const again = await startCollector(server.url, { data });
    await again.waitForEvents('backfilled', (found) =>
      found.some((m) => m.event === two.event.eventId && m.rangeTo > closedAlone),
    );
    // Both sessions number their records from 1.
    const all = (await again.records(TOPICS.chance)).sort((a, b) => a.receivedAt - b.receivedAt);
    const history = all.filter((r) => r.kind === 'chance.history');
    for (const [{ market }, p] of [
      [one, 0],
      [two, 1],
    ] as const) {
      expect(points(history.filter((r) => r.request['market'] === market.marketId)).at(-1)?.p).toBe(p);
    }
    await again.stop();
    expect(JSON.parse(await readFile(join(data, 'collector', 'chance-history.json'), 'utf8')).markets).toEqual({});
  });

  it('retries after failures, which are in the receipts', async () => {
    const { server, events } = await exchangeWith(1);
    await secondIsHistory(events[0]?.createdAt ?? 0);
    await server.control('POST', '/faults', {
      kind: 'truncated-body',
      stream: 'rest',
      eventId: events[0]?.eventId,
      count: 2,
    });
    await server.control('POST', '/faults', { kind: 'http-429', stream: 'rest', eventId: events[0]?.eventId });
    const rig = await startCollector(server.url, { settings: { eventsSchedule: NEVER } });
    await rig.waitForEvents('backfilled', (found) => found.length > 0);
    await until(async () =>
      (await rig.events('poll')).some((m) => m.operation === 'chance-history' && m.outcome === 'complete'),
    );
    const answers = (await rig.records(TOPICS.chance)).filter((r) => r.kind === 'chance.history');
    const complete = answers.find(({ request: req }) => req['status'] === 200 && req['cut'] === undefined);
    expect(complete?.request).toMatchObject({ attempt: 3 });
    const cut = answers.filter(({ request: req }) => req['cut'] !== undefined);
    expect(cut.map(({ request: req, encoding: enc }) => [req['status'], req['cut'], enc])).toEqual([
      [200, 'broken-off', 'text'],
      [200, 'broken-off', 'text'],
    ]);
    for (const { body } of cut) expect(body).toMatch(/^\[\{"t":/);
  });
});
