import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { marketOf, openEvent, startServer, type TestServer, Traders } from './server-support.js';

async function oneEvent() {
  const server = await startServer({ events: 0 });
  const event = openEvent(server.core, 'faults', [0.5]);
  return { server, event, e: event.eventId, market: marketOf(event), traders: new Traders(server.core) };
}

/** An order book connection subscribed to an event, its first state taken. */
async function subscribed(server: TestServer, e: string) {
  const socket = await server.connect('/event/ws');
  socket.send({ t: 'SUBSCRIBE', e });
  await socket.next('PRICES_DATA');
  return socket;
}

const arm = async (server: TestServer, fault: object) => {
  const answer = await server.control('POST', '/faults', fault);
  expect(answer.status).toBe(200);
  return answer.body;
};
const list = async (server: TestServer) => (await server.control('GET', '/faults')).body;

/** The bid of the next delta. */
const nextBid = async (socket: { next(type: string): Promise<{ d: { b: number }[] }> }) =>
  (await socket.next('PRICES_DATA_DELTA')).d[0]?.b;

describe('faults', () => {
  it('are answered as armed, listed while armed, and listed as used once they struck', async () => {
    const { server, e } = await oneEvent();
    const armed = await arm(server, { kind: 'http-500', stream: 'rest', eventId: e, count: 2 });
    expect(armed).toEqual({ id: 1, kind: 'http-500', stream: 'rest', eventId: e, count: 2, left: 2 });
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

  it('strike once unless count says otherwise', async () => {
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
      { kind: 'skip-delta', stream: 'rest' },
      { kind: 'duplicate-delta', stream: 'rest' },
      { kind: 'malformed-frame', stream: 'rest' },
    ];
    for (const fault of wrong)
      expect([fault, (await server.control('POST', '/faults', fault)).status]).toEqual([fault, 400]);
    expect(await list(server)).toEqual({ armed: [], used: [] });
  });

  it('never strike control calls', async () => {
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

  it('truncated-body announces the whole body and sends half of it', async () => {
    const { server } = await oneEvent();
    const whole = (await server.get('/api/categories')).text;
    await arm(server, { kind: 'truncated-body', stream: 'rest' });
    const { length, text } = await new Promise<{ length: string | undefined; text: string }>((resolve, reject) => {
      const request = httpRequest(`${server.url}/api/categories`, async (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () =>
          resolve({ length: response.headers['content-length'], text: Buffer.concat(chunks).toString() }),
        );
      });
      request.on('error', reject).end();
    });
    expect(length).toBe(String(Buffer.byteLength(whole)));
    expect(text).toBe(whole.slice(0, Math.floor(whole.length / 2)));
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
    const abort = AbortSignal.timeout(1000);
    await expect(fetch(`${server.url}/api/coins`, { signal: abort })).rejects.toThrow('timeout');
    await arm(server, { kind: 'freeze', stream: 'rest', ms: 100 });
    expect((await server.get('/api/coins')).status).toBe(200);
  });
});

describe('faults of streams', () => {
  it('drop-connection ends an open connection at once, as many as it counts', async () => {
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

  it('drop-connection strikes chance connections by their event too', async () => {
    const { server, e, market } = await oneEvent();
    const socket = await server.connect('/ws');
    socket.send({ t: 'SUBSCRIBE', e, o: [market.marketId] });
    await socket.next('success');
    await arm(server, { kind: 'drop-connection', stream: 'chance', eventId: e });
    expect(await socket.end()).toBe(1006);
  });

  it('freeze keeps the socket open and sends nothing more on it, not even pongs; others go on', async () => {
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
    // What the frozen connection sent was read long before this answer came.
    expect((await other.ask({ t: 'REQUEST_DATA', e })).t).toBe('PRICES_DATA');
    expect([frozen.waiting, pongs, frozen.closed]).toEqual([[], 0, undefined]);
  });

  it('freeze with ms thaws: what happened meanwhile is lost', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await subscribed(server, e);
    await arm(server, { kind: 'freeze', stream: 'order-book', ms: 1000 });
    traders.bid(market, 10);
    await new Promise((resolve) => setTimeout(resolve, 1010));
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

  it('skip-delta leaves out the next deltas, and only deltas', async () => {
    const { server, e, market, traders } = await oneEvent();
    const socket = await subscribed(server, e);
    await arm(server, { kind: 'skip-delta', stream: 'order-book', count: 2 });
    expect((await socket.ask({ t: 'REQUEST_DATA', e })).t).toBe('PRICES_DATA');
    for (const cents of [10, 11, 12]) traders.bid(market, cents);
    expect(await nextBid(socket)).toBe(0.12);
  });

  it('skip-delta waits for a delta that somebody would have got', async () => {
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

  it('skip-delta and duplicate-delta of the chance stream strike live points', async () => {
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

  it('slow delays what is answered to the next message, in order with those after it', async () => {
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

  it('http faults strike the handshake of the named stream', async () => {
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
