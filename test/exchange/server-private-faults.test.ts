import { describe, expect, it } from 'vitest';
import { StillClock } from '../support/clocks.js';
import { startTestExchange, type TestExchangeOptions } from '../support/exchange.js';
import { Book, openAccount, statusOf } from './server-accounts.js';

/** Two accounts and a market. */
async function traded() {
  const server = await startTestExchange({ events: 0 });
  const [ann, bob] = [await openAccount(server), await openAccount(server)];
  const book = await Book.open(server);
  return { server, ann, bob, book };
}

/** An exchange with quirks, and a trade of 10 at 0.4 with an order of 5 left, placed in its core. */
async function quirky(quirks: string, options: TestExchangeOptions = {}) {
  const server = await startTestExchange({ events: 0, quirks, ...options });
  const [ann, bob] = [await openAccount(server), await openAccount(server)];
  const opened = server.core.openEvent({
    title: 'Quirky',
    category: server.core.categories()[0]?.slug ?? '',
    tags: [],
    markets: [{ name: 'M', chance: 0.5 }],
  });
  if (!opened.ok) throw new Error(opened.rejection.message);
  const [market] = opened.value.markets;
  if (!market) throw new Error('no market');
  const { eventId, marketId, yesAssetId, noAssetId } = market;
  const at = { eventId, marketId, side: 'BUY' } as const;
  server.core.placeLimit({ ...at, userId: bob.userId, assetId: noAssetId, price: 60, quantity: 1000 });
  server.core.placeLimit({ ...at, userId: ann.userId, assetId: yesAssetId, price: 40, quantity: 1500 });
  const order = { e: eventId, o: marketId, ba: yesAssetId, qa: server.core.usdcId };
  return { server, ann, bob, market, order };
}

describe('faults of the private half', () => {
  it('clock-skew rejects the signature of the next request, whose Date says why', async () => {
    const { server, ann } = await traded();
    const fault = { kind: 'clock-skew', stream: 'rest', ms: 3_600_000 };
    expect((await server.control('POST', '/faults', fault)).status).toBe(200);
    const { status, headers } = await ann.get('/api/history/trades');
    expect([status, Math.round((Date.parse(headers.get('date') ?? '') - Date.now()) / 60_000)]).toEqual([401, 60]);
    expect((await ann.get('/api/history/trades')).status).toBe(200);
  });
});

describe('quirks of the private half', () => {
  it('trades-wrapper answers trades bare, in i alone, or like the public pages [4.4/trades]', async () => {
    const bodyOf = async (quirks: string) => {
      const { ann } = await quirky(quirks);
      return (await ann.get('/api/history/trades?size=7')).body;
    };
    const trades = [{ i: expect.any(String), q: 10, p: 0.4 }];
    expect(await bodyOf('')).toMatchObject({ i: trades, p: 0, s: 7, tp: 1 });
    expect(await bodyOf('trades-wrapper=array')).toMatchObject(trades);
    const only = await bodyOf('trades-wrapper=i');
    expect([Object.keys(only), only.i]).toMatchObject([['i'], trades]);
    expect(await bodyOf('trades-wrapper=content')).toMatchObject({ content: trades, totalElements: 1, totalPages: 1 });
  });

  it('place-status and delete-status answer orders and TP/SL orders otherwise [7.2/success]', async () => {
    for (const [quirks, placed, deleted, body] of [
      ['', 200, 204, ''],
      ['place-status=201,delete-status=200', 201, 200, '{}'],
      ['place-status=202,delete-status=204', 202, 204, ''],
    ] as const) {
      const { ann, order } = await quirky(quirks);
      const limit = await ann.post('/orders/limit', { ...order, s: 'BUY', p: 0.1, q: 1 });
      const market = await ann.post('/orders/market', { ...order, s: 'SELL', q: 1 });
      const tpsl = await ann.post('/orders/tpsl', { ...order, i: 'YES', s: 'SELL', q: 1, t: 0.9 });
      for (const answer of [limit, market, tpsl]) {
        expect([quirks, answer.status, answer.body]).toEqual([quirks, placed, { i: expect.any(String) }]);
      }
      const gone = [
        await ann.delete(`/orders/limit/${limit.body.i}`),
        await ann.delete(`/orders/tpsl/${tpsl.body.i}`),
        await ann.bearer('DELETE', '/auth/api-key'),
      ];
      expect([quirks, ...gone.map(({ status, text }) => [status, text])]).toEqual([
        quirks,
        ...gone.map(() => [deleted, body]),
      ]);
    }
  });

  it('numbers-as-strings writes amounts, pages and stream messages as texts', async () => {
    const { ann, server } = await quirky('numbers-as-strings');
    expect((await ann.get('/api/user-balances')).body[0]).toMatchObject({ b: '995.992', f: '993.988' });
    expect((await ann.get('/api/history/trades')).body).toMatchObject({
      i: [{ q: '10', p: '0.4', f: '0.008' }],
      s: '20',
    });
    const { socket, greeting } = await ann.stream('/balance/ws');
    expect(greeting.d.l[0].b).toBe('995.992');
    await server.control('POST', '/deposits', { userId: ann.userId, amount: 0.000001 });
    expect(await socket.next()).toMatchObject({ b: '995.992001', aop: '0' });
  });

  it('extra-fields adds a field to every record and message', async () => {
    const { ann, server } = await quirky('extra-fields');
    const xField = { note: 'undocumented' };
    expect((await ann.get('/api/history/orders')).body).toMatchObject({ xField, i: [{ xField }] });
    const { socket, greeting } = await ann.stream('/balance/ws');
    expect(greeting).toMatchObject({ xField, d: { xField, l: [{ xField }, { xField }] } });
    await server.control('POST', '/deposits', { userId: ann.userId, amount: 1 });
    expect(await socket.next()).toMatchObject({ xField, b: 996.992 });
  });

  it('max-page-size cuts the pages of accounts too', async () => {
    const { ann } = await quirky('max-page-size=1');
    for (const path of ['orders', 'trades', 'activity', 'deals/open-positions', 'deals/active-orders']) {
      const { body } = await ann.get(`/api/history/${path}?size=50`);
      expect([path, body.s, body.i.length]).toEqual([path, 1, 1]);
    }
    expect((await ann.bearer('GET', '/api/transactions?size=50')).body).toMatchObject({ s: 1, i: [{}] });
  });

  it('heartbeat sets the interval of PING on the order stream; the balance stream has none [6.3/ping 8/heartbeat]', async () => {
    const { ann } = await quirky('heartbeat=0.05');
    const [orders, balance] = [await ann.stream('/order/ws'), await ann.stream('/balance/ws')];
    for (let n = 0; n < 3; n++) expect(await orders.socket.next()).toEqual({ t: 'PING', d: null, r: null });
    expect(balance.socket.waiting).toEqual([]);
  });
});

describe('faults of the private half', () => {
  it('before the answer leave the order undone, after it done', async () => {
    const { server, ann, book } = await traded();
    const place = () => ann.post('/orders/limit', { ...book.target('YES'), s: 'BUY', p: 0.1, q: 1 });
    const placed = async () => (await ann.get('/api/history/orders')).body.i.length;
    for (const [kind, status] of [
      ['http-429', 429],
      ['http-500', 500],
    ] as const) {
      await server.control('POST', '/faults', { kind, stream: 'rest' });
      expect([kind, statusOf(await place())]).toEqual([kind, status]);
    }
    for (const kind of ['http-reset', 'drop-connection']) {
      await server.control('POST', '/faults', { kind, stream: 'rest' });
      await expect(place()).rejects.toThrow();
    }
    expect(await placed()).toBe(0);
    await server.control('POST', '/faults', { kind: 'truncated-body', stream: 'rest' });
    await expect(place()).rejects.toThrow();
    expect(await placed()).toBe(1);
    expect((await place()).status).toBe(200);
  });

  it('truncated-body waits for an answer that has a body', async () => {
    const { server, ann, book } = await traded();
    const id = await book.limit(ann, 'BUY', 'YES', 0.1, 1);
    await server.control('POST', '/faults', { kind: 'truncated-body', stream: 'rest' });
    expect((await ann.delete(`/orders/limit/${id}`)).status).toBe(204);
    await expect(ann.get('/api/user-balances')).rejects.toThrow();
    expect((await ann.get('/api/user-balances')).status).toBe(200);
  });

  it('skip and duplicate the next update of one stream', async () => {
    const { server, ann, book } = await traded();
    const [orders, balance] = [await ann.stream('/order/ws'), await ann.stream('/balance/ws')];
    await server.control('POST', '/faults', { kind: 'skip-delta', stream: 'orders' });
    await server.control('POST', '/faults', { kind: 'duplicate-delta', stream: 'balance' });
    const first = await book.limit(ann, 'BUY', 'YES', 0.1, 1);
    const second = await book.limit(ann, 'BUY', 'YES', 0.1, 2);
    expect((await orders.socket.next()).d.i).toBe(second);
    expect(first).not.toBe(second);
    const free = [await balance.socket.next(), await balance.socket.next(), await balance.socket.next()].map(
      ({ f }) => f,
    );
    expect(free).toEqual([999.8998, 999.8998, 999.6994]);
  });

  it('drop, freeze and break the streams of accounts', async () => {
    const { server, ann } = await traded();
    const deposit = () => server.control('POST', '/deposits', { userId: ann.userId, amount: 1 });
    const { socket: dropped } = await ann.stream('/balance/ws');
    await server.control('POST', '/faults', { kind: 'drop-connection', stream: 'balance' });
    expect(await dropped.end()).toBe(1006);

    const { socket: broken } = await ann.stream('/balance/ws');
    await server.control('POST', '/faults', { kind: 'malformed-frame', stream: 'balance' });
    await deposit();
    const half = await broken.nextText();
    expect(() => JSON.parse(half)).toThrow();
    expect(await broken.next()).toMatchObject({ b: 1001 });

    await server.control('POST', '/faults', { kind: 'freeze', stream: 'balance' });
    await deposit();
    const { socket: fresh } = await ann.stream('/balance/ws');
    await deposit();
    expect(await fresh.next()).toMatchObject({ b: 1003 });
    expect(broken.waiting).toEqual([]);
  });

  it('an event narrows faults of the order stream to its orders', async () => {
    const { server, ann, book } = await traded();
    const other = await Book.open(server);
    const { socket } = await ann.stream('/order/ws');
    await server.control('POST', '/faults', { kind: 'skip-delta', stream: 'orders', eventId: book.market.eventId });
    const seen = await other.limit(ann, 'BUY', 'YES', 0.1, 1);
    await book.limit(ann, 'BUY', 'YES', 0.1, 1);
    const last = await book.limit(ann, 'BUY', 'YES', 0.1, 1);
    expect([(await socket.next()).d.i, (await socket.next()).d.i]).toEqual([seen, last]);
  });

  it('rate-limit applies to signed requests too, and sends Retry-After', async () => {
    const { ann } = await quirky('rate-limit=40', { clock: new StillClock() });
    const answers = await Promise.all(Array.from({ length: 80 }, () => ann.get('/api/user-balances')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  });
});
