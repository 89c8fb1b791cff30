import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startTestExchange } from '../support/exchange.js';
import type { Answer } from '../support/exchange-connection.js';
import { marketOf, openEvent, Traders } from './server-support.js';

const errorOf = ({ status, headers, body }: Answer) => {
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(Object.keys(body).sort()).toEqual(['error', 'message', 'status']);
  expect(body.status).toBe(status);
  expect(body.message).not.toBe('');
  return [status, body.error];
};
const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

describe('the public endpoints', () => {
  it('GET /api/categories answers the tree [2/category 4.5/categories]', async () => {
    const server = await startTestExchange();
    const { status, body } = await server.get('/api/categories');
    expect(status).toBe(200);
    expect(body).toEqual(
      server.core.categories().map((category) => ({
        i: category.id,
        n: category.name,
        s: category.slug,
        pi: null,
        sc: category.children.map(({ id, name, slug }) => ({ i: id, n: name, s: slug })),
      })),
    );
    expect(body.some((category: { sc: unknown[] }) => category.sc.length > 0)).toBe(true);
  });

  it('GET /api/tags/popular returns tags by rank, 10 unless limit is given [2/tag 4.5/tags 8/tag-count]', async () => {
    const server = await startTestExchange({ events: 40 });
    const all = server.core.tags().map(({ name, rank }) => ({ n: name, r: rank }));
    expect(all.length).toBeGreaterThan(10);
    expect((await server.get('/api/tags/popular')).body).toEqual(all.slice(0, 10));
    expect((await server.get('/api/tags/popular?limit=3')).body).toEqual(all.slice(0, 3));
    expect((await server.get('/api/tags/popular?limit=100')).body).toEqual(all.slice(0, 100));
    expect(all.map(({ r }) => r)).toEqual(all.map((_, n) => n + 1));
    for (const limit of ['0', '101', '-1', 'ten', '1.5', '']) {
      expect(errorOf(await server.get(`/api/tags/popular?limit=${limit}`))).toEqual([400, 'Bad Request']);
    }
  });

  it('GET /api/coins answers every documented field [2/coin 4.3/coins]', async () => {
    const server = await startTestExchange();
    const { status, body } = await server.get('/api/coins');
    expect(status).toBe(200);
    const usdc = body.find((coin: { i: string }) => coin.i === server.core.usdcId);
    expect(usdc).toMatchObject({ sn: 'USDC', ac: 'ACTIVE', pmc: true });
    for (const coin of body) {
      expect(Object.entries(coin).map(([field, value]) => `${field} ${typeof value}`)).toEqual([
        'i string',
        'n string',
        'sn string',
        'ur number',
        'urd string',
        'dpf number',
        'dps number',
        'ac string',
        'iu string',
        'sc boolean',
        'pmc boolean',
      ]);
      expect(Number.isNaN(Date.parse(coin.urd))).toBe(false);
    }
  });

  it('answers 404 for an unknown path, and for a known path with another method [7.2/404]', async () => {
    const server = await startTestExchange();
    const wrong = [
      ['GET', '/'],
      ['GET', '/api/nothing'],
      ['GET', '/api/coins/'],
      ['GET', '//api/coins'],
      ['GET', '/API/coins'],
      ['POST', '/api/coins'],
      ['DELETE', '/api/coins'],
      ['PUT', '/api/categories'],
      ['PATCH', '/api/tags/popular'],
      ['GET', '/api/events/search'],
      ['POST', '/api/events/a/outcomes/b/history'],
      ['GET', '/api/events//outcomes/b/history'],
      ['GET', '/api/events/%zz/outcomes/b/history'],
      ['GET', '/event/ws'],
      ['GET', '/_control/nothing'],
    ];
    for (const [method = '', path = ''] of wrong) {
      expect([method, path, ...errorOf(await server.request(method, path))]).toEqual([method, path, 404, 'Not Found']);
    }
    expect((await server.request('HEAD', '/api/coins')).status).toBe(404);
  });

  it('looks at the path before the body, and at the body before its fields', async () => {
    const server = await startTestExchange();
    const huge = `{"ss":"${'x'.repeat(70_000)}"}`;
    expect(errorOf(await server.request('POST', '/api/coins', { body: huge }))[0]).toBe(404);
    const broken = await server.request('POST', '/api/events/search?page=-1', { body: '{"sb":' });
    expect(broken.body.message).toContain('not JSON');
  });

  it('rejects a body that is not JSON or over 64 KiB with 400, and continues to serve the connection [1/json]', async () => {
    const server = await startTestExchange();
    const post = (body: string) => server.request('POST', '/api/events/search', { body });
    for (const text of ['{', 'undefined', "{'ss':1}", '\u0000', '{"ss":"a"}}']) {
      expect([text, ...errorOf(await post(text))]).toEqual([text, 400, 'Bad Request']);
    }
    const sized = (bytes: number) => `{"ss":"${'x'.repeat(bytes - 9)}"}`;
    expect((await post(sized(65_536))).status).toBe(200);
    const tooLarge = await post(sized(65_537));
    expect(errorOf(tooLarge)).toEqual([400, 'Bad Request']);
    expect(tooLarge.body.message).toContain('65536');
    expect(errorOf(await post(sized(5_000_000)))[0]).toBe(400);
    const bytes = await fetch(`${server.url}/api/events/search`, {
      method: 'POST',
      body: new Uint8Array([0x22, 0xff, 0x22]),
    });
    expect(bytes.status).toBe(400);
    expect((await post('')).status).toBe(200);
  });

  it('answers bytes that are no HTTP with a 400 and closes', async () => {
    const server = await startTestExchange();
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.end('this is not HTTP\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ status: 400, error: 'Bad Request' });
  });
});

describe('GET /api/events/{e}/outcomes/{o}/history', () => {
  async function oneMarket() {
    const server = await startTestExchange({ events: 1 });
    const event = openEvent(server.core, 'history', [0.5]);
    const market = marketOf(event);
    const path = `/api/events/${event.eventId}/outcomes/${market.marketId}/history`;
    const ask = (period: string, from: string, to: string) =>
      server.get(`${path}?${new URLSearchParams({ period, from, to })}`);
    return { server, event, market, path, ask };
  }

  it('answers the same points as the raw history aggregates to, for every code and custom seconds', async () => {
    const { server, market, ask } = await oneMarket();
    const traders = new Traders(server.core);
    const opened = Math.floor(market.openedAt / 1e6);
    for (const cents of [40, 41, 60]) traders.trade(market, cents);
    const changed = server.core.lastChanceAtOrBefore(market.marketId, Number.MAX_SAFE_INTEGER)?.t ?? 0;
    const lengths = { '1s': 1, '5s': 5, '5M': 300, '10M': 600, '30M': 1800, '1H': 3600, '3H': 10_800, '4H': 14_400 };
    const longer = { '6H': 21_600, '1d': 86_400, '7d': 604_800, '13': 13, '86399': 86_399 };
    for (const [code, seconds] of Object.entries({ ...lengths, ...longer })) {
      const end = (Math.floor(changed / seconds) + 1) * seconds;
      const { status, body } = await ask(code, iso(opened - 1), iso(end + seconds));
      expect(status).toBe(200);
      expect([code, body.at(-1)]).toEqual([code, { t: end, p: 0.6 }]);
      expect(body.every(({ t }: { t: number }) => t % seconds === 0)).toBe(true);
    }
    const date = new Date(changed * 1000);
    const monthEnd = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000;
    const month = await ask('1m', iso(opened - 1), iso(monthEnd));
    expect(month.body).toEqual([{ t: monthEnd, p: 0.6 }]);
  });

  it('answers an anchor, a flat line, and nothing before the market opened', async () => {
    const { market, ask } = await oneMarket();
    const opened = Math.floor(market.openedAt / 1e6);
    // Within one hour, whenever the test runs.
    const hour = (Math.floor(opened / 3600) + 1) * 3600;
    expect((await ask('1H', iso(hour + 100), iso(hour + 200))).body).toEqual([
      { t: hour + 100, p: 0.5 },
      { t: hour + 200, p: 0.5 },
    ]);
    expect((await ask('1H', iso(opened - 200), iso(opened - 100))).body).toEqual([]);
  });

  it('reads times with offsets, fractions and dates alone [2/timestamps]', async () => {
    const { ask } = await oneMarket();
    const forms: [string, number][] = [
      ['2100-01-01T00:00:00Z', 4_102_444_800],
      ['2100-01-01T02:00:00+02:00', 4_102_444_800],
      ['2099-12-31T18:30:00-0530', 4_102_444_800],
      ['2100-01-01T00:00:00.999Z', 4_102_444_800],
      ['2100-01-01T00:00', 4_102_444_800],
      ['2100-01-01', 4_102_444_800],
      ['2100-02-28T24:00:00Z', 4_107_542_400],
    ];
    for (const [text, seconds] of forms) {
      const { status, body } = await ask('1d', text, '2200-01-01T00:00:00Z');
      expect([text, status, body[0]]).toEqual([text, 200, { t: seconds, p: 0.5 }]);
    }
  });

  it('refuses from after to, missing and unreadable parameters, and unknown periods with 400 [4.5/history]', async () => {
    const { server, path, ask } = await oneMarket();
    const [a, b] = ['2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z'];
    expect(errorOf(await ask('1H', b, a))).toEqual([400, 'Bad Request']);
    expect(errorOf(await ask('1H', '2024-01-01T00:00:00.500Z', a))).toEqual([400, 'Bad Request']);
    for (const period of ['1h', '5m', '1M', '0', '-1', '1.5', '', 'raw', '60 ']) {
      expect([period, ...errorOf(await ask(period, a, b))]).toEqual([period, 400, 'Bad Request']);
    }
    for (const time of ['', 'yesterday', '1704067200', '2024-13-01', '2024-02-30T00:00:00Z', '2024-01-01T25:00:00Z']) {
      expect([time, ...errorOf(await ask('1H', time, b))]).toEqual([time, 400, 'Bad Request']);
      expect([time, ...errorOf(await ask('1H', a, time))]).toEqual([time, 400, 'Bad Request']);
    }
    for (const query of ['', `period=1H&from=${a}`, `period=1H&to=${b}`, `from=${a}&to=${b}`]) {
      expect([query, ...errorOf(await server.get(`${path}?${query}`))]).toEqual([query, 400, 'Bad Request']);
    }
  });

  it('answers 404 for an unknown event or outcome, and for an outcome of another event, after validation', async () => {
    const { server, event, market } = await oneMarket();
    const other = server.core.events().find(({ eventId }) => eventId !== event.eventId);
    const query = 'period=1H&from=2024-01-01T00:00:00Z&to=2024-01-02T00:00:00Z';
    for (const path of [
      `nothing/outcomes/${market.marketId}`,
      `${event.eventId}/outcomes/nothing`,
      `${other?.eventId}/outcomes/${market.marketId}`,
    ]) {
      expect([path, ...errorOf(await server.get(`/api/events/${path}/history?${query}`))]).toEqual([
        path,
        404,
        'Not Found',
      ]);
      expect(errorOf(await server.get(`/api/events/${path}/history?period=x`))[0]).toBe(400);
    }
  });

  it('still responds for a resolved market, whose last chance is 1 or 0', async () => {
    const { server, event, market, ask } = await oneMarket();
    server.core.resolveMarket(event.eventId, market.marketId, 'NO');
    const { status, body } = await ask('1s', '2024-01-01', '2200-01-01');
    expect(status).toBe(200);
    expect(body.at(-1).p).toBe(0);
  });
});
