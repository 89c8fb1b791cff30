import { describe, expect, it } from 'vitest';
import type { Category } from '../../exchange/engine/index.js';
import { startTestExchange, type TestExchange } from '../support/exchange.js';
import { marketOf, openEvent, Traders } from './server-support.js';

const titles = (answer: { body: { content: { title: string }[] } }) => answer.body.content.map(({ title }) => title);
const search = (server: TestExchange, body?: unknown, query = '') => server.post(`/api/events/search${query}`, body);

describe('POST /api/events/search', () => {
  it('answers every open event with both documented field sets and the shared fields [1/markets 2/event-outcomes 2/event-runners]', async () => {
    const server = await startTestExchange({ events: 4 });
    const { status, headers, body } = await search(server);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(Object.keys(body)).toEqual(['content', 'totalElements', 'totalPages']);
    expect([body.totalElements, body.totalPages, body.content.length]).toEqual([4, 1, 4]);
    for (const found of body.content) {
      const event = server.core.event(found.id);
      expect(found).toMatchObject({
        id: event?.eventId,
        title: event?.title,
        i: event?.eventId,
        ti: event?.title,
        slug: event?.slug,
        category: event?.category,
        tags: event?.tags,
        volume24h: 0,
        totalVolume: 0,
      });
      expect(found.outcomes).toEqual(
        event?.markets.map((m) => ({ marketId: m.marketId, yesId: m.yesAssetId, noId: m.noAssetId, name: m.name })),
      );
      expect(found.ma).toEqual(
        event?.markets.map((m) => ({
          i: m.marketId,
          n: m.name,
          r: [
            { i: m.yesAssetId, ip: true, p: m.chance },
            { i: m.noAssetId, ip: false, p: Math.round((1 - m.chance) * 1e6) / 1e6 },
          ],
        })),
      );
      expect(Date.parse(found.createdAt)).toBe(Math.floor((event?.createdAt ?? 0) / 1000));
      expect(found.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(found.closesAt)).toBeGreaterThan(Date.parse(found.createdAt));
    }
  });

  it('allows no body, an empty object and unknown fields [4.5/search]', async () => {
    const server = await startTestExchange();
    const all = (await search(server)).body;
    expect((await search(server, {})).body).toEqual(all);
    expect((await search(server, { unknown: [1], sb: 'VOLUME_24H', sd: 'DESC', l: 'de', ft: false })).body).toEqual(
      all,
    );
  });

  it('pages from zero, by 20 unless size is given, without overlap, and is empty past the end [4.5/search 4.5/page 8/page-size 8/page-number]', async () => {
    const server = await startTestExchange({ events: 45 });
    const ids = (answer: { body: { content: { id: string }[] } }) => answer.body.content.map(({ id }) => id);
    const pages = await Promise.all([0, 1, 2, 3].map((page) => search(server, {}, `?page=${page}`)));
    expect(pages.map((page) => page.body.content.length)).toEqual([20, 20, 5, 0]);
    expect(pages.map((page) => [page.body.totalElements, page.body.totalPages])).toEqual(Array(4).fill([45, 3]));
    expect(new Set(pages.flatMap(ids)).size).toBe(45);
    const small = await search(server, {}, '?page=2&size=7');
    expect(ids(small)).toEqual(pages.flatMap(ids).slice(14, 21));
    expect(small.body.totalPages).toBe(7);
    expect((await search(server, {}, '?page=99999999999999999999&size=1')).body.content).toEqual([]);
  });

  it('cuts page sizes above 100 to 100', async () => {
    const server = await startTestExchange({ events: 101 });
    const { body } = await search(server, {}, '?size=5000');
    expect([body.content.length, body.totalElements, body.totalPages]).toEqual([100, 101, 2]);
  });

  it('rejects a page or size that is not a whole number or is negative, and a size of 0', async () => {
    const server = await startTestExchange();
    for (const query of [
      'page=-1',
      'page=x',
      'page=1.5',
      'page=',
      'size=0',
      'size=-3',
      'size=ten',
      'size=1e2',
      'size=',
    ]) {
      const { status, body } = await search(server, {}, `?${query}`);
      expect([query, status, body.status, body.error]).toEqual([query, 400, 400, 'Bad Request']);
      expect(body.message).toContain(query.split('=')[0]);
    }
  });

  it('refuses fields of the wrong type and values that are not listed [4.5/l]', async () => {
    const server = await startTestExchange();
    const wrong = [
      { sb: 'volume_24h' },
      { sb: 1 },
      { sb: null },
      { sd: 'UP' },
      { l: 'fr' },
      { ss: 5 },
      { c: 'sports' },
      { c: [1] },
      { t: {} },
      { ft: 'yes' },
    ];
    for (const body of wrong) {
      const answer = await search(server, body);
      expect([body, answer.status]).toEqual([body, 400]);
      expect(answer.body.message).toContain(Object.keys(body)[0]);
    }
    for (const body of [[], 'text', 7, null]) expect([body, (await search(server, body)).status]).toEqual([body, 400]);
  });

  it('finds by text in title, market names and tags, without regard to case [4.5/ss]', async () => {
    const server = await startTestExchange({ events: 2 });
    openEvent(server.core, 'Zebra crossing', [0.5], { tags: ['walking'] });
    openEvent(server.core, 'Other', [0.5], { tags: ['zebras'] });
    openEvent(server.core, 'Ünïcode ☂ event', [0.5]);
    expect(titles(await search(server, { ss: 'zEBRA', sb: 'OLDEST' }))).toEqual(['Zebra crossing', 'Other']);
    expect(titles(await search(server, { ss: 'crossing 0' }))).toEqual(['Zebra crossing']);
    expect(titles(await search(server, { ss: 'ÜNÏCODE ☂' }))).toEqual(['Ünïcode ☂ event']);
    expect((await search(server, { ss: 'no such thing' })).body).toEqual({
      content: [],
      totalElements: 0,
      totalPages: 0,
    });
  });

  it('finds by category slug, subcategories included, by any of several tags, and featured only [4.5/c 4.5/t 4.5/ft]', async () => {
    const server = await startTestExchange({ events: 0 });
    const parent = server.core.categories().find((category: Category) => category.children.length > 0);
    const [child, other] = [
      parent?.children[0]?.slug,
      server.core.categories().find((c) => c.slug !== parent?.slug)?.slug,
    ];
    openEvent(server.core, 'In the child', [0.5], { category: child, tags: ['a', 'b'] });
    openEvent(server.core, 'In the parent', [0.5], { category: parent?.slug, tags: ['c'], featured: true });
    openEvent(server.core, 'Elsewhere', [0.5], { category: other, tags: ['A'] });
    const sorted = async (body: object) => titles(await search(server, { sb: 'OLDEST', ...body }));
    expect(await sorted({ c: [parent?.slug] })).toEqual(['In the child', 'In the parent']);
    expect(await sorted({ c: [child] })).toEqual(['In the child']);
    expect(await sorted({ c: [other, child] })).toEqual(['In the child', 'Elsewhere']);
    expect(await sorted({ c: ['nothing'] })).toEqual([]);
    expect(await sorted({ c: [] })).toHaveLength(3);
    expect(await sorted({ t: ['b', 'c'] })).toEqual(['In the child', 'In the parent']);
    expect(await sorted({ t: ['A'] })).toEqual(['Elsewhere']);
    expect(await sorted({ ft: true })).toEqual(['In the parent']);
    expect(await sorted({ c: [parent?.slug], t: ['a'], ss: 'child' })).toEqual(['In the child']);
  });

  it('sorts by every key, in its own direction unless sd is given [4.5/sb 4.5/sd]', async () => {
    const server = await startTestExchange({ events: 0 });
    const { core } = server;
    const traders = new Traders(core);
    const day = 86_400_000_000;
    const first = openEvent(core, 'first', [0.2, 0.5], { closesAt: Date.now() * 1000 + 9 * day });
    const second = openEvent(core, 'second', [0.9], { closesAt: Date.now() * 1000 + 3 * day });
    const third = openEvent(core, 'third', [0.4], { closesAt: Date.now() * 1000 + 6 * day });
    traders.trade(marketOf(first), 20, 100);
    traders.trade(marketOf(third), 40, 5000);
    traders.bid(marketOf(second), 80, 7000);
    traders.bid(marketOf(first), 10, 200);
    const order = async (body: object) => (await search(server, body)).body.content.map((e: { id: string }) => e.id);
    const [a, b, c] = [first.eventId, second.eventId, third.eventId];
    expect(await order({ sb: 'OLDEST' })).toEqual([a, b, c]);
    expect(await order({ sb: 'OLDEST', sd: 'DESC' })).toEqual([c, b, a]);
    expect(await order({ sb: 'NEWEST' })).toEqual([c, b, a]);
    expect(await order({ sb: 'NEWEST', sd: 'ASC' })).toEqual([a, b, c]);
    expect(await order({ sb: 'ENDING_SOON' })).toEqual([b, c, a]);
    expect(await order({ sb: 'ENDING_SOON', sd: 'DESC' })).toEqual([a, c, b]);
    expect(await order({ sb: 'CHANCE' })).toEqual([b, a, c]);
    expect(await order({ sb: 'CHANCE', sd: 'ASC' })).toEqual([c, a, b]);
    expect(await order({ sb: 'LIQUIDITY' })).toEqual([b, a, c]);
    expect(await order({ sb: 'LIQUIDITY', sd: 'ASC' })).toEqual([c, a, b]);
    for (const sb of ['VOLUME_24H', 'TOTAL_VOLUME']) {
      expect(await order({ sb })).toEqual([c, a, b]);
      expect(await order({ sb, sd: 'ASC' })).toEqual([b, a, c]);
    }
    expect(await order({})).toEqual([c, a, b]);
    expect(await order({ sd: 'ASC' })).toEqual([b, a, c]);
  });

  it('shows volume as quantity times the price of the asset that the taker traded, and liquidity as resting value', async () => {
    const server = await startTestExchange({ events: 0 });
    const event = openEvent(server.core, 'money', [0.5]);
    const traders = new Traders(server.core);
    traders.trade(marketOf(event), 25, 1200);
    traders.bid(marketOf(event), 10, 300);
    const [found] = (await search(server)).body.content;
    expect(found).toMatchObject({ volume24h: 3, totalVolume: 3, liquidity: 0.3 });
  });

  it('shows an event until all its markets are resolved', async () => {
    const server = await startTestExchange({ events: 0 });
    const event = openEvent(server.core, 'two markets', [0.5, 0.5]);
    const [one, two] = [marketOf(event, 0), marketOf(event, 1)];
    server.core.resolveMarket(event.eventId, one.marketId, 'YES');
    const [found] = (await search(server)).body.content;
    expect(found.ma[0].r.map((runner: { p: number }) => runner.p)).toEqual([1, 0]);
    server.core.resolveMarket(event.eventId, two.marketId, 'NO');
    expect((await search(server)).body.totalElements).toBe(0);
  });

  it('gives the same events, markets, assets and IDs for the same seed, and others for another', async () => {
    const shape = async (seed: number) => {
      const { body } = await search(await startTestExchange({ seed, events: 8 }), { sb: 'OLDEST' });
      return body.content.map((event: Record<string, unknown>) => ({ ...event, createdAt: '', closesAt: '' }));
    };
    const one = await shape(11);
    expect(await shape(11)).toEqual(one);
    const ids = (events: { id: string }[]) => events.map(({ id }) => id);
    expect(ids(await shape(12)).filter((id) => ids(one).includes(id))).toEqual([]);
  });

  it('does not hold the event loop for 150 ms while it looks through 4,000 events and shows 100 large ones', async () => {
    const server = await startTestExchange({ events: 0 });
    const chances = Array.from({ length: 50 }, () => 0.9);
    for (let n = 0; n < 100; n++) openEvent(server.core, `large ${n}`, chances);
    for (let n = 0; n < 3900; n++) openEvent(server.core, `small ${n}`, [0.5]);
    const body = JSON.stringify({ sb: 'CHANCE' });
    // What the process did not compute itself, it was paused by a busy machine.
    const moment = () => {
      const { user, system } = process.cpuUsage();
      return { atMs: performance.now(), usedMs: (user + system) / 1000 };
    };
    const longestPause = async (): Promise<number> => {
      let [longest, last] = [0, moment()];
      const timer = setInterval(() => {
        const now = moment();
        longest = Math.max(longest, Math.min(now.atMs - last.atMs, now.usedMs - last.usedMs));
        last = now;
      }, 1);
      const response = await fetch(`${server.url}/api/events/search?size=100`, { method: 'POST', body });
      let bytes = 0;
      for await (const chunk of response.body ?? []) bytes += chunk.length;
      clearInterval(timer);
      expect(bytes).toBeGreaterThan(1_500_000);
      return longest;
    };
    const pauses = [];
    for (let n = 0; n < 5; n++) pauses.push(await longestPause());
    expect(Math.min(...pauses)).toBeLessThan(150);
    expect(Math.min(...pauses)).toBeGreaterThan(0);
  });
});
