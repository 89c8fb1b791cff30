import { describe, expect, it } from 'vitest';
import { UsageError } from '../../core/index.js';
import { NO_QUIRKS, parseQuirks } from '../../exchange/server/quirks.js';
import { RateLimit } from '../../exchange/server/rate-limit.js';
import { StillClock } from '../support/clocks.js';
import { startTestExchange } from '../support/exchange.js';
import { marketOf, openEvent, Traders } from './server-support.js';

const SHARED = [
  'slug',
  'category',
  'tags',
  'featured',
  'volume24h',
  'totalVolume',
  'liquidity',
  'createdAt',
  'closesAt',
];

describe('quirks', () => {
  it('event-shape shows one documented field set, the other, or both [2/event-outcomes 2/event-runners]', async () => {
    const fields = async (quirks: string) => {
      const server = await startTestExchange({ events: 0, quirks });
      openEvent(server.core, 'shape', [0.5]);
      return Object.keys((await server.post('/api/events/search')).body.content[0]);
    };
    expect(await fields('event-shape=outcomes')).toEqual(['id', 'title', 'outcomes', ...SHARED]);
    expect(await fields('event-shape=runners')).toEqual(['i', 'ti', 'ma', ...SHARED]);
    const both = ['id', 'title', 'outcomes', 'i', 'ti', 'ma', ...SHARED];
    expect(await fields('event-shape=both')).toEqual(both);
    expect(await fields('')).toEqual(both);
  });

  it('max-page-size cuts pages to its size [8/open]', async () => {
    const server = await startTestExchange({ events: 0, quirks: 'max-page-size=3' });
    for (let n = 0; n < 7; n++) openEvent(server.core, `event ${n}`, [0.5]);
    for (const [size, got] of [
      [100, 3],
      [2, 2],
    ]) {
      const { body } = await server.post(`/api/events/search?size=${size}`);
      expect([body.content.length, body.totalElements, body.totalPages]).toEqual([got, 7, Math.ceil(7 / (got ?? 1))]);
    }
  });

  it('extra-fields adds an undocumented field to every object but the maps of IDs', async () => {
    const server = await startTestExchange({ events: 0, quirks: 'extra-fields' });
    const event = openEvent(server.core, 'extra', [0.5]);
    const extra = { note: 'undocumented' };
    const { body } = await server.post('/api/events/search');
    expect(body.xField).toEqual(extra);
    expect(body.content[0]).toMatchObject({
      xField: extra,
      outcomes: [{ xField: extra }],
      ma: [{ r: [{ xField: extra }, {}] }],
    });
    expect((await server.get('/api/coins')).body[0].xField).toEqual(extra);
    const socket = await server.connect('/ws');
    const { marketId } = marketOf(event);
    const message = await socket.ask({ t: 'SUBSCRIBE', e: event.eventId, o: [marketId] });
    expect(message.xField).toEqual(extra);
    expect(Object.keys(message.d)).toEqual([marketId]);
    expect(message.d[marketId].xField).toEqual(extra);
    const book = await server.connect('/event/ws');
    expect((await book.ask({ t: 'REQUEST_DATA', e: event.eventId })).d[0].xField).toEqual(extra);
  });

  it('numbers-as-strings writes every number of answers and frames as a string', async () => {
    const server = await startTestExchange({ events: 0, quirks: 'numbers-as-strings' });
    const event = openEvent(server.core, 'strings', [0.5]);
    new Traders(server.core).trade(marketOf(event), 41);
    const numbers = (value: unknown): number =>
      typeof value === 'number'
        ? 1
        : value && typeof value === 'object'
          ? Object.values(value).reduce((n, v) => n + numbers(v), 0)
          : 0;
    const { body } = await server.post('/api/events/search');
    expect([body.totalElements, body.content[0].ma[0].r[0].p, numbers(body)]).toEqual(['1', '0.41', 0]);
    expect(numbers((await server.get('/api/coins')).body)).toBe(0);
    const o = [marketOf(event).marketId];
    const path = `/api/events/${event.eventId}/outcomes/${o[0]}/history?period=1H&from=2200-01-01&to=2200-01-02`;
    expect((await server.get(path)).body[0]).toEqual({ t: '7258118400', p: '0.41' });
    const book = await server.connect('/event/ws');
    const prices = await book.ask({ t: 'REQUEST_DATA', e: event.eventId });
    expect(prices.d).toEqual([{ o: o[0], c: '0.41', b: '0', a: '1' }]);
    const chance = await server.connect('/ws');
    expect(numbers(await chance.ask({ t: 'SUBSCRIBE', e: event.eventId, o }))).toBe(0);
    const range = { f: '2200-01-01', t: '2200-01-02' };
    await chance.next('success');
    expect(numbers(await chance.ask({ t: 'HISTORY', e: event.eventId, o, d: range }))).toBe(0);
  });

  it('heartbeat sets the interval of PING, and off sends none [6.1/ping]', async () => {
    const fast = await startTestExchange({ quirks: 'heartbeat=0.05' });
    // The first one is due an interval after the connection was accepted, which may be long before we learn of that.
    const start = performance.now();
    const socket = await fast.connect('/event/ws');
    const pings = [await socket.next(), await socket.next(), await socket.next()];
    expect(pings).toEqual([{ t: 'PING' }, { t: 'PING' }, { t: 'PING' }]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(120);
    expect(parseQuirks('heartbeat=off').heartbeatSeconds).toBeUndefined();
    expect(NO_QUIRKS.heartbeatSeconds).toBe(15);
  });

  it('rate-limit=N answers the requests of a second beyond N with 429 and Retry-After, but no control call [7.2/429]', async () => {
    const clock = new StillClock();
    const server = await startTestExchange({ quirks: 'rate-limit=5', clock });
    const answers = await Promise.all(Array.from({ length: 12 }, () => server.get('/api/coins')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(7);
    for (const { headers, body } of refused) {
      expect(headers.get('retry-after')).toBe('1');
      expect(body).toMatchObject({ status: 429, error: 'Too Many Requests' });
    }
    expect((await server.control('GET', '/faults')).status).toBe(200);
    expect((await server.get('/api/coins')).status).toBe(429);
    clock.seconds = 1;
    expect((await server.get('/api/coins')).status).toBe(200);
  });

  it('the rate limit counts each client and second on its own', () => {
    let now = 0;
    const limit = new RateLimit(2, () => now);
    expect(['a', 'a', 'a', 'b'].map((client) => limit.refuse(client))).toEqual([undefined, undefined, 1, undefined]);
    now = 999;
    expect(limit.refuse('a')).toBe(1);
    now = 1000;
    expect(limit.refuse('a')).toBeUndefined();
  });

  it('are parsed from a list', () => {
    expect(parseQuirks('')).toEqual(NO_QUIRKS);
    const all =
      'event-shape=runners, trades-wrapper=content,max-page-size=7,rate-limit=9,extra-fields,heartbeat=2,numbers-as-strings,place-status=202,delete-status=200';
    expect(parseQuirks(all)).toEqual({
      eventShape: 'runners',
      tradesWrapper: 'content',
      maxPageSize: 7,
      rateLimit: 9,
      extraFields: true,
      heartbeatSeconds: 2,
      numbersAsStrings: true,
      placeStatus: 202,
      deleteStatus: 200,
    });
  });

  it('that do not exist or have a wrong value are refused with what to write', () => {
    const wrong: [string, string][] = [
      ['event-shap=both', 'did you mean event-shape?'],
      ['event-shape', 'event-shape=outcomes|runners|both'],
      ['event-shape=triangles', 'event-shape=outcomes|runners|both'],
      ['max-page-size=0', 'N from 1 to 100'],
      ['max-page-size=101', 'N from 1 to 100'],
      ['rate-limit=0', 'rate-limit=N'],
      ['rate-limit=many', 'rate-limit=N'],
      ['extra-fields=yes', 'extra-fields'],
      ['heartbeat=0', 'heartbeat=SECONDS|off'],
      ['place-status=204', '200|201|202'],
      ['delete-status=202', '200|204'],
      ['trades-wrapper=xml', 'array|i|content'],
    ];
    for (const [text, hint] of wrong) {
      expect(() => parseQuirks(text)).toThrow(UsageError);
      expect(() => parseQuirks(text)).toThrow(hint);
    }
  });
});
