import { request as httpRequest } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BOTS_USER_AGENT } from '../../core/index.js';
import { startTestExchange, type TestExchange } from '../support/exchange.js';
import { until } from '../support/until.js';
import { marketOf, openEvent, Traders } from './server-support.js';

async function oneEvent() {
  const server = await startTestExchange({ events: 0 });
  const event = openEvent(server.core, 'faults', [0.5]);
  return { server, event, e: event.eventId, market: marketOf(event), traders: new Traders(server.core) };
}

/** An order book connection subscribed to an event, its initial snapshot taken. */
async function subscribed(server: TestExchange, e: string, headers: Readonly<Record<string, string>> = {}) {
  const socket = await server.connect('/event/ws', headers);
  socket.send({ t: 'SUBSCRIBE', e });
  await socket.next('PRICES_DATA');
  return socket;
}

const arm = async (server: TestExchange, fault: object) => {
  const answer = await server.control('POST', '/faults', fault);
  expect(answer.status).toBe(200);
  return answer.body;
};
/** Stops the clock by which a freeze ends; `vi.advanceTimersByTime` sets it. */
const stopClock = () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
};
const list = async (server: TestExchange) => (await server.control('GET', '/faults')).body;

/** The bid of the next delta. */
const nextBid = async (socket: { next(type: string): Promise<{ d: { b: number }[] }> }) =>
  (await socket.next('PRICES_DATA_DELTA')).d[0]?.b;

describe('faults', () => {
  it('are answered as armed, listed while armed, and listed as used once they struck', async () => {
    const { server, e } = await oneEvent();
    const armed = await arm(server, { kind: 'http-500', stream: 'rest', eventId: e, count: 2 });
    expect(armed).toEqual({ id: 1, kind: 'http-500', stream: 'rest', eventId: e, target: 'any', count: 2, left: 2 });
    expect(await list(server)).toEqual({ armed: [armed], used: [] });
    const path = `/api/events/${e}/outcomes/x/history`;
    expect((await server.get('/api/coins')).status).toBe(200);
    expect((await server.get(path)).status).toBe(500);
    expect(await list(server)).toEqual({
      armed: [{ ...armed, left: 1 }],
      used: [{ id: 1, kind: 'http-500', stream: 'rest', eventId: e, at: expect.any(Number) }],
    });
    expect((await server.get(path)).status).toBe(500);
    expect((await server.get(path)).status).toBe(400);
    expect(await list(server)).toMatchObject({ armed: [], used: [{ id: 1 }, { id: 1 }] });
  });

  it('apply no more once disarmed', async () => {
    const { server } = await oneEvent();
    const armed = await arm(server, { kind: 'http-500', stream: 'rest', count: 5 });
    expect((await server.get('/api/coins')).status).toBe(500);
    const disarm = () => server.control('DELETE', `/faults/${armed.id}`);
    expect(await disarm()).toMatchObject({ status: 200, body: { ...armed, left: 4 } });
    expect((await server.get('/api/coins')).status).toBe(200);
    expect(await list(server)).toMatchObject({ armed: [], used: [{ id: 1 }] });
    expect(await disarm()).toMatchObject({ status: 404, body: { message: 'no fault 1 is armed' } });
  });

  it('apply once unless count is given', async () => {
    const { server } = await oneEvent();
    await arm(server, { kind: 'http-429' });
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await server.get('/api/coins')).status);
    expect(statuses).toEqual([429, 200, 200]);
  });

  it('that do not exist or do not fit are refused with 400', async () => {
    const { server } = await oneEvent();
    const wrong = [
      undefined,
      {},
      { kind: 'explode' },
      { kind: 'freeze', stream: 'books' },
      { kind: 'freeze', count: 0 },
      { kind: 'freeze', count: 1.5 },
      { kind: 'freeze', ms: -1 },
      { kind: 'freeze', eventId: '' },
      { kind: 'slow' },
      { kind: 'slow', ms: '5' },
      { kind: 'freeze', sometimes: true },
      { kind: 'freeze', target: 'bots' },
      { kind: 'skip-delta', stream: 'rest' },
      { kind: 'duplicate-delta', stream: 'rest' },
      { kind: 'malformed-frame', stream: 'rest' },
      { kind: 'oversized-frame', stream: 'rest' },
      { kind: 'reorder-deltas', stream: 'rest' },
      { kind: 'late-history', ms: 5, stream: 'order-book' },
      { kind: 'late-history' },
      { kind: 'stale-rest', stream: 'chance' },
      { kind: 'clock-skew', ms: 5, stream: 'order-book' },
      { kind: 'clock-skew' },
      { kind: 'clock-skew', ms: 86_400_001 },
      { kind: 'slow', ms: 600_001 },
      { kind: 'slow', ms: 5, field: 'p' },
      { kind: 'rename-field', field: '' },
      { kind: 'freeze', connection: true },
      { kind: 'slow', ms: 5, eventId: 'e', connection: true },
    ];
    for (const fault of wrong)
      expect([fault, (await server.control('POST', '/faults', fault)).status]).toEqual([fault, 400]);
    expect(await list(server)).toEqual({ armed: [], used: [] });
  });

  it('never apply to control calls', async () => {
    const { server } = await oneEvent();
    for (const kind of ['http-500', 'http-429', 'http-reset', 'truncated-body']) await arm(server, { kind, count: 5 });
    expect((await list(server)).armed).toHaveLength(4);
  });
});

describe('faults of REST', () => {
  it('http-429 and http-500 answer with an error body, 429 with Retry-After [7.2/500]', async () => {
    const { server } = await oneEvent();
    await arm(server, { kind: 'http-429', stream: 'rest' });
    const limited = await server.get('/api/coins');
    expect([limited.status, limited.body.status, limited.headers.get('retry-after')]).toEqual([429, 429, '1']);
    await arm(server, { kind: 'http-500', stream: 'rest' });
    const failed = await server.get('/api/coins');
    expect(failed.body).toEqual({ status: 500, error: 'Internal Server Error', message: 'internal error' });
  });

  it('http-reset and drop-connection cut the connection without an answer', async () => {
    const { server } = await oneEvent();
    for (const kind of ['http-reset', 'drop-connection']) {
      await arm(server, { kind, stream: 'rest' });
      await expect(server.get('/api/coins')).rejects.toThrow('fetch failed');
      expect((await server.get('/api/coins')).status).toBe(200);
    }
  });

  it('truncated-body announces the full length, sends half of the body and ends the connection immediately', async () => {
    const { server } = await oneEvent();
    const whole = (await server.get('/api/categories')).text;
    const truncated = () =>
      new Promise<{ length: string | undefined; text: string }>((resolve, reject) => {
        const request = httpRequest(`${server.url}/api/categories`, async (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', () =>
            resolve({ length: response.headers['content-length'], text: Buffer.concat(chunks).toString() }),
          );
        });
        request.on('error', reject).end();
      });
    // An idle connection is closed after five seconds, every time; a busy machine delays some.
    const [limitMs, times] = [4000, [] as number[]];
    while (times.length < 5 && !times.some((ms) => ms < limitMs)) {
      await arm(server, { kind: 'truncated-body', stream: 'rest' });
      const start = performance.now();
      const { length, text } = await truncated();
      times.push(performance.now() - start);
      expect(length).toBe(String(Buffer.byteLength(whole)));
      expect(text).toBe(whole.slice(0, Math.floor(whole.length / 2)));
    }
    expect(Math.min(...times)).toBeLessThan(limitMs);
  });

  it('oversized-frame sends the next frame with more than 16 MiB', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await subscribed(server, e);
    await arm(server, { kind: 'oversized-frame', stream: 'order-book' });
    traders.bid(market, 10);
    const text = await socket.nextText();
    expect(text.length).toBeGreaterThan(16 * 1024 * 1024);
    expect(JSON.parse(text).d[0].b).toBe(0.1);
  });

  it('rename-field and number-as-text change a field of the next answer that has it', async () => {
    const { server, event } = await oneEvent();
    await arm(server, { kind: 'rename-field', stream: 'rest', field: 'title' });
    const coins = await server.get('/api/coins');
    expect(coins.text).not.toContain('Renamed');
    const [found] = (await server.post('/api/events/search')).body.content;
    expect([found.title, found.titleRenamed]).toEqual([undefined, event.title]);
    await arm(server, { kind: 'number-as-text', stream: 'rest', field: 'totalElements' });
    expect((await server.post('/api/events/search')).body.totalElements).toBe('1');
    expect((await server.post('/api/events/search')).body.totalElements).toBe(1);
  });

  it('stale-rest answers an equal request as it was answered first since the fault was armed', async () => {
    const { server } = await oneEvent();
    const titles = async (query = '') => {
      const { body } = await server.post(`/api/events/search${query}`);
      return body.content.map(({ title }: { title: string }) => title).sort();
    };
    await arm(server, { kind: 'stale-rest', stream: 'rest', count: 2 });
    expect(await titles()).toEqual(['faults']);
    openEvent(server.core, 'later', [0.5]);
    expect(await titles()).toEqual(['faults']);
    expect(await titles('?size=5')).toEqual(['faults', 'later']);
    expect(await titles()).toEqual(['faults']);
    expect(await titles()).toEqual(['faults', 'later']);
    expect(await list(server)).toMatchObject({ armed: [], used: [{ kind: 'stale-rest' }, { kind: 'stale-rest' }] });
    await arm(server, { kind: 'stale-rest', stream: 'rest' });
    expect(await titles()).toEqual(['faults', 'later']);
  });

  it('clock-skew puts the Date of the next answer ahead', async () => {
    const { server } = await oneEvent();
    const ahead = async () => {
      const date = (await server.get('/api/coins')).headers.get('date') ?? '';
      return Math.round((Date.parse(date) - Date.now()) / 60_000) + 0;
    };
    await arm(server, { kind: 'clock-skew', stream: 'rest', ms: -3_600_000 });
    expect([await ahead(), await ahead()]).toEqual([-60, 0]);
  });

  it('slow delays the answer by ms', async () => {
    const { server } = await oneEvent();
    await arm(server, { kind: 'slow', stream: 'rest', ms: 150 });
    const start = performance.now();
    expect((await server.get('/api/coins')).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThanOrEqual(149);
  });

  it('freeze never answers, or after ms', async () => {
    const { server } = await oneEvent();
    await arm(server, { kind: 'freeze', stream: 'rest' });
    const abort = new AbortController();
    const frozen = fetch(`${server.url}/api/coins`, { signal: abort.signal });
    await until(async () => (await list(server)).used.length === 1);
    expect((await server.get('/api/coins')).status).toBe(200);
    abort.abort(new Error('not answered'));
    await expect(frozen).rejects.toThrow('not answered');
    await arm(server, { kind: 'freeze', stream: 'rest', ms: 100 });
    expect((await server.get('/api/coins')).status).toBe(200);
  });
});

describe('faults of streams', () => {
  it('drop-connection ends open connections immediately, up to its count', async () => {
    const { server, e } = await oneEvent();
    const [first, second] = [await subscribed(server, e), await subscribed(server, e)];
    await arm(server, { kind: 'drop-connection', stream: 'order-book' });
    expect(await first.end()).toBe(1006);
    expect((await second.ask({ t: 'REQUEST_DATA', e })).t).toBe('PRICES_DATA');
    expect(await list(server)).toMatchObject({ armed: [], used: [{ stream: 'order-book' }] });
  });

  it('drop-connection of an event ends a connection that is subscribed to it, now or later', async () => {
    const { server, e } = await oneEvent();
    const other = openEvent(server.core, 'other', [0.5]);
    const bystander = await subscribed(server, other.eventId);
    await arm(server, { kind: 'drop-connection', eventId: e });
    expect((await list(server)).armed).toHaveLength(1);
    const socket = await server.connect('/event/ws');
    socket.send({ t: 'SUBSCRIBE', e });
    expect(await socket.end()).toBe(1006);
    expect((await bystander.ask({ t: 'REQUEST_DATA', e: other.eventId })).t).toBe('PRICES_DATA');
  });

  it('drop-connection applies to chance connections by their event too', async () => {
    const { server, e, market } = await oneEvent();
    const socket = await server.connect('/ws');
    socket.send({ t: 'SUBSCRIBE', e, o: [market.marketId] });
    await socket.next('success');
    await arm(server, { kind: 'drop-connection', stream: 'chance', eventId: e });
    expect(await socket.end()).toBe(1006);
  });

  it('freeze keeps the socket open and sends nothing more on it, not even pongs; others continue', async () => {
    const { server, e, market, traders } = await oneEvent();
    const [frozen, other] = [await subscribed(server, e), await subscribed(server, e)];
    await arm(server, { kind: 'freeze', stream: 'order-book' });
    let pongs = 0;
    frozen.ws.on('pong', () => pongs++);
    frozen.ws.ping();
    frozen.send({ t: 'REQUEST_DATA', e });
    frozen.send('not JSON');
    traders.bid(market, 10);
    expect(await nextBid(other)).toBe(0.1);
    // The message on the frozen connection was read long before this response.
    expect((await other.ask({ t: 'REQUEST_DATA', e })).t).toBe('PRICES_DATA');
    expect([frozen.waiting, pongs, frozen.closed]).toEqual([[], 0, undefined]);
  });

  it('freeze with ms ends after that time: changes meanwhile are lost', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await subscribed(server, e);
    stopClock();
    await arm(server, { kind: 'freeze', stream: 'order-book', ms: 1000 });
    vi.advanceTimersByTime(999);
    traders.bid(market, 10);
    vi.advanceTimersByTime(1);
    traders.bid(market, 11);
    expect(await nextBid(socket)).toBe(0.11);
  });

  it('freeze of an event silences that event alone', async () => {
    const { server, e, market, traders } = await oneEvent();
    const other = openEvent(server.core, 'other', [0.5]);
    const socket = await subscribed(server, e);
    socket.send({ t: 'SUBSCRIBE', e: other.eventId });
    await socket.next('PRICES_DATA');
    await arm(server, { kind: 'freeze', eventId: e });
    traders.bid(market, 10);
    socket.send({ t: 'REQUEST_DATA', e });
    traders.bid(marketOf(other), 20);
    expect(await socket.next()).toMatchObject({ t: 'PRICES_DATA_DELTA', e: other.eventId });
  });

  it('freeze of the connection of an event silences the connections that are subscribed to it', async () => {
    const { server, e, market, traders } = await oneEvent();
    const other = openEvent(server.core, 'other', [0.5]);
    const bystander = await subscribed(server, other.eventId);
    const socket = await subscribed(server, e);
    socket.send({ t: 'SUBSCRIBE', e: other.eventId });
    await socket.next('PRICES_DATA');
    stopClock();
    await arm(server, { kind: 'freeze', eventId: e, connection: true, ms: 600 });
    traders.bid(market, 10);
    traders.bid(marketOf(other), 20);
    expect(await nextBid(bystander)).toBe(0.2);
    vi.advanceTimersByTime(600);
    traders.bid(marketOf(other), 21);
    const seen = await socket.next();
    expect([seen.t, seen.d[0].b]).toEqual(['PRICES_DATA_DELTA', 0.21]);
  });

  it('skip-delta leaves out the next deltas, and only deltas', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await subscribed(server, e);
    await arm(server, { kind: 'skip-delta', stream: 'order-book', count: 2 });
    expect((await socket.ask({ t: 'REQUEST_DATA', e })).t).toBe('PRICES_DATA');
    for (const cents of [10, 11, 12]) traders.bid(market, cents);
    expect(await nextBid(socket)).toBe(0.12);
  });

  it('skip-delta waits for a delta with subscribers', async () => {
    const { server, e, market, traders } = await oneEvent();
    await arm(server, { kind: 'skip-delta' });
    traders.bid(market, 10);
    const socket = await subscribed(server, e);
    for (const cents of [11, 12]) traders.bid(market, cents);
    expect(await nextBid(socket)).toBe(0.12);
  });

  it('duplicate-delta sends a delta twice', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await subscribed(server, e);
    await arm(server, { kind: 'duplicate-delta', stream: 'order-book' });
    for (const cents of [10, 11]) traders.bid(market, cents);
    expect([await nextBid(socket), await nextBid(socket), await nextBid(socket)]).toEqual([0.1, 0.1, 0.11]);
  });

  it('skip-delta and duplicate-delta of the chance stream apply to live points', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await server.connect('/ws');
    socket.send({ t: 'SUBSCRIBE', e, o: [market.marketId] });
    await socket.next('success');
    await arm(server, { kind: 'skip-delta', stream: 'chance' });
    traders.trade(market, 40);
    await arm(server, { kind: 'duplicate-delta', stream: 'chance' });
    traders.trade(market, 41);
    const points = [await socket.next('probability'), await socket.next('probability')];
    expect(points.map(({ d }) => d.p)).toEqual([0.41, 0.41]);
  });

  it('reorder-deltas sends a delta after the one that follows it about the same event', async () => {
    const { server, e, market, traders } = await oneEvent();
    const other = openEvent(server.core, 'other', [0.5]);
    const socket = await subscribed(server, e);
    socket.send({ t: 'SUBSCRIBE', e: other.eventId });
    await socket.next('PRICES_DATA');
    await arm(server, { kind: 'reorder-deltas', stream: 'order-book', eventId: e });
    traders.bid(market, 10);
    traders.bid(marketOf(other), 20);
    for (const cents of [11, 12]) traders.bid(market, cents);
    const bids = [];
    for (let n = 0; n < 4; n++) bids.push(await nextBid(socket));
    expect(bids).toEqual([0.2, 0.11, 0.1, 0.12]);
  });

  it('rename-field and number-as-text change the first number of the next delta, or the named field', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await subscribed(server, e);
    const next = async () => (await socket.next('PRICES_DATA_DELTA')).d[0];
    const o = market.marketId;
    await arm(server, { kind: 'rename-field', stream: 'order-book' });
    traders.bid(market, 10);
    expect(await next()).toEqual({ o, cRenamed: 0.5, b: 0.1, a: 1 });
    await arm(server, { kind: 'number-as-text', stream: 'order-book', field: 'b' });
    traders.bid(market, 11);
    expect(await next()).toEqual({ o, c: 0.5, b: '0.11', a: 1 });
    await arm(server, { kind: 'rename-field', stream: 'order-book', field: 'nothing' });
    traders.bid(market, 12);
    expect(await next()).toEqual({ o, c: 0.5, b: 0.12, a: 1 });
    expect((await list(server)).armed).toHaveLength(1);
  });

  it('clock-skew puts the time of the next live chance ahead, and of no aggregated point', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await server.connect('/ws');
    socket.send({ t: 'SUBSCRIBE', e, o: [market.marketId] });
    await socket.next('success');
    await arm(server, { kind: 'clock-skew', stream: 'chance', ms: 7_200_000 });
    traders.trade(market, 40);
    const live = await socket.next('probability');
    const aggregated = await socket.next('UPDATE_HISTORY');
    expect(live.d).toEqual({ t: aggregated.d.t - 1 + 7200, p: 0.4 });
  });

  it('late-history delays a response to HISTORY, and no other message', async () => {
    const { server, e, market } = await oneEvent();
    const socket = await server.connect('/ws');
    await arm(server, { kind: 'late-history', stream: 'chance', ms: 150 });
    const start = performance.now();
    const d = { f: '2025-01-01T00:00:00Z', t: '2025-01-01T00:01:00Z' };
    socket.send({ t: 'HISTORY', e, o: [market.marketId], d });
    socket.send({ t: 'SUBSCRIBE', e, o: [market.marketId] });
    expect([(await socket.next()).t, (await socket.next()).t]).toEqual(['probability', 'success']);
    expect((await socket.next()).t).toBe('HISTORY_RESPONSE');
    expect(performance.now() - start).toBeGreaterThanOrEqual(149);
  });

  it('with the target not-bots apply to all clients but the bots', async () => {
    const { server, e, market, traders } = await oneEvent();
    const bots = { 'User-Agent': BOTS_USER_AGENT };
    const bot = await subscribed(server, e, bots);
    await arm(server, { kind: 'skip-delta', target: 'not-bots' });
    traders.bid(market, 10);
    expect(await nextBid(bot)).toBe(0.1);
    const other = await subscribed(server, e);
    traders.bid(market, 11);
    traders.bid(market, 12);
    expect([await nextBid(bot), await nextBid(bot), await nextBid(other)]).toEqual([0.11, 0.12, 0.12]);

    await arm(server, { kind: 'duplicate-delta', target: 'not-bots' });
    traders.bid(market, 13);
    traders.bid(market, 14);
    const bids = async (socket: typeof bot) => [await nextBid(socket), await nextBid(socket)];
    expect([await bids(bot), await bids(other)]).toEqual([
      [0.13, 0.14],
      [0.13, 0.13],
    ]);

    await arm(server, { kind: 'drop-connection', stream: 'order-book', target: 'not-bots', count: 2 });
    expect((await server.request('GET', '/api/coins', { headers: bots })).status).toBe(200);
    await arm(server, { kind: 'http-500', target: 'not-bots' });
    expect((await server.request('GET', '/api/coins', { headers: bots })).status).toBe(200);
    expect((await server.get('/api/coins')).status).toBe(500);
    traders.bid(market, 15);
    expect(await nextBid(bot)).toBe(0.15);
    expect(bot.ws.readyState).toBe(bot.ws.OPEN);
    expect(other.ws.readyState).not.toBe(other.ws.OPEN);
  });

  it('malformed-frame sends half of the next frame before it', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await subscribed(server, e);
    await arm(server, { kind: 'malformed-frame', stream: 'order-book' });
    traders.bid(market, 10);
    const [broken, whole] = [await socket.nextText(), await socket.nextText()];
    expect(() => JSON.parse(broken)).toThrow();
    expect(whole.startsWith(broken)).toBe(true);
    expect(JSON.parse(whole).d[0].b).toBe(0.1);
  });

  it('slow delays the response to the next message, in order with later ones', async () => {
    const { server, e } = await oneEvent();
    const socket = await subscribed(server, e);
    await arm(server, { kind: 'slow', stream: 'order-book', ms: 120 });
    const start = performance.now();
    socket.send({ t: 'REQUEST_DATA', e });
    socket.send({ t: 'UNSUBSCRIBE', e });
    expect((await socket.next()).t).toBe('PRICES_DATA');
    expect(performance.now() - start).toBeGreaterThanOrEqual(119);
    expect((await socket.next()).t).toBe('UNSUBSCRIBED');
  });

  it('http faults apply to the handshake of the named stream', async () => {
    const { server } = await oneEvent();
    for (const [kind, message] of [
      ['http-429', '429'],
      ['http-500', '500'],
      ['http-reset', 'hang up'],
      ['truncated-body', 'hang up'],
    ]) {
      await arm(server, { kind, stream: 'chance' });
      expect((await server.connect('/event/ws')).closed).toBeUndefined();
      await expect(server.connect('/ws')).rejects.toThrow(message);
      expect((await server.connect('/ws')).closed).toBeUndefined();
    }
  });
});
