import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { conformanceTarget } from './conformance-target.js';
import { type Account, authMessage, Book, bareSocket, nowSeconds, openAccount, sign } from './server-accounts.js';

const target = await conformanceTarget();
const PATHS = ['/order/ws', '/balance/ws'] as const;

const isError = (frame: { t: string; d: { error: string } }) => {
  expect(frame).toEqual({ t: 'error', d: { error: expect.stringMatching(/./) } });
  return frame.d.error;
};
/** All messages received so far, in order: the error for an invalid message comes after them. */
async function framesUntilNow(socket: Awaited<ReturnType<Account['stream']>>['socket']) {
  socket.send('{"t":"UNKNOWN"}');
  const frames: unknown[] = [];
  for (;;) {
    const frame = await socket.next();
    if (frame.t === 'error') return frames;
    if (frame.t !== 'PING') frames.push(frame);
  }
}

describe.each(PATHS)('AUTH on %s (parts 5.5, 7.3)', (path) => {
  it('accepts a valid key [5.5/auth 6.3/auth]', async () => {
    const account = await openAccount(target);
    const { greeting } = await account.stream(path);
    const d = path === '/order/ws' ? 'authorized' : { l: [{ i: expect.any(String), b: 1000, f: 1000 }] };
    expect(greeting).toEqual({ t: 'success', d, r: null });
  });

  it('refuses a wrong key, signature, path, timestamp and form with an error, and may be tried again [5.5/signature 6.3/auth 7.3/private]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const socket = await target.connect(path);
    const good = authMessage(ann.key, path);
    const other = authMessage(ann.key, path === '/order/ws' ? '/balance/ws' : '/order/ws');
    const t = String(nowSeconds());
    const wrong: unknown[] = [
      other,
      { ...good, d: { ...good.d, apiKey: bob.key.key } },
      { ...good, d: { ...good.d, apiKey: 'pk_unknown' } },
      { ...good, d: { ...good.d, signature: sign(bob.key.secret, `${t}GET${path}`) } },
      { ...good, d: { ...good.d, signature: `${good.d.signature}=` } },
      { ...good, d: { ...good.d, signature: sign(ann.key.secret, `${t}POST${path}`) } },
      { ...good, d: { ...good.d, timestamp: Number(good.d.timestamp) } },
      { ...good, d: { ...good.d, timestamp: '' } },
      { ...good, d: { apiKey: ann.key.key } },
      { t: 'AUTH' },
      { t: 'AUTH', d: null },
      { t: 'AUTH', d: [good.d] },
      { d: good.d },
      { ...good, t: 'auth' },
    ];
    for (const message of wrong) isError(await socket.ask(message));
    expect((await socket.ask(authMessage(ann.key, path))).t).toBe('success');
  });

  it('holds within 30 seconds either way (part 8): replayed later it is refused [5.5/drift 8/window]', async () => {
    const account = await openAccount(target);
    for (const [offset, accepted] of [
      [-32, false],
      [45, false],
      [-15, true],
      [29, true],
    ] as const) {
      const socket = await target.connect(path);
      const answer = await socket.ask(authMessage(account.key, path, String(nowSeconds() + offset)));
      expect([offset, answer.t]).toEqual([offset, accepted ? 'success' : 'error']);
    }
  });

  it('is needed first: without it there is no data, and any other message is an error [5.5/auth]', async () => {
    const account = await openAccount(target);
    const socket = await target.connect(path);
    for (const message of [{ t: 'SUBSCRIBE', e: 'x' }, {}, null, 5, [], 'no JSON', '', '"AUTH"', { t: '☂' }]) {
      isError(await socket.ask(message));
    }
    await (await Book.open(target)).limit(account, 'BUY', 'YES', 0.5, 1);
    await target.control('POST', '/deposits', { userId: account.userId, amount: 1 });
    expect(await framesUntilNow(socket)).toEqual([]);
  });

  it('given twice is refused, changes nothing, and opens no other account', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const { socket } = await ann.stream(path);
    isError(await socket.ask(authMessage(ann.key, path)));
    isError(await socket.ask(authMessage(bob.key, path)));
    const book = await Book.open(target);
    await book.limit(bob, 'BUY', 'YES', 0.5, 1);
    await book.limit(ann, 'BUY', 'YES', 0.4, 1);
    const frames = await framesUntilNow(socket);
    expect(frames).toHaveLength(1);
    expect(JSON.stringify(frames)).toContain(ann.userId);
  });

  it('answers binary frames, large messages and deep ones with an error, and the connection stays', async () => {
    const account = await openAccount(target);
    const socket = await target.connect(path);
    socket.ws.send(Buffer.from(JSON.stringify(authMessage(account.key, path))), { binary: true });
    isError(await socket.next());
    isError(await socket.ask(JSON.stringify({ ...authMessage(account.key, path), x: 'x'.repeat(70_000) })));
    isError(await socket.ask(`{"t":"AUTH","d":${'['.repeat(20_000)}${']'.repeat(20_000)}}`));
    expect((await socket.ask(authMessage(account.key, path))).t).toBe('success');
  });

  it('is refused for a blocked, revoked or replaced key, and open connections of that key end', async () => {
    const account = await openAccount(target);
    const ended: [string, () => Promise<unknown>][] = [
      ['replaced', () => account.newKey()],
      ['revoked', () => account.bearer('DELETE', '/auth/api-key')],
      ['blocked', () => target.control('POST', `/accounts/${account.userId}/block`)],
    ];
    for (const [how, end] of ended) {
      if (how === 'blocked') await account.newKey();
      const { key } = account;
      const { socket } = await account.stream(path);
      await end();
      isError(await socket.next('error'));
      expect([how, await socket.end()]).toEqual([how, 1008]);
      const again = await target.connect(path);
      isError(await again.ask(authMessage(key, path)));
      if (how === 'revoked') await account.newKey();
    }
  });
});

describe('the order updates stream (part 6.3)', () => {
  it('reports an order placed with SUCCESS, and one that failed with FAILED [6.3/order-update 6.6/orders]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    const { socket } = await ann.stream('/order/ws');
    const limit = await book.limit(ann, 'BUY', 'YES', 0.4, 10);
    const failed = await book.buy(ann, 'NO', 1);
    await book.limit(bob, 'BUY', 'NO', 0.5, 10);
    const market = await book.buy(ann, 'YES', 5.01);
    await ann.delete(`/orders/limit/${limit}`);
    await ann.post('/orders/limit', { ...book.target('YES'), s: 'BUY', p: 2, q: 1 });
    const update = (i: string, s: string) => ({ t: 'ORDER_UPDATE', d: { i, u: ann.userId, s }, r: null });
    expect(await framesUntilNow(socket)).toEqual([
      update(limit, 'SUCCESS'),
      update(failed, 'FAILED'),
      update(market, 'SUCCESS'),
    ]);
  });

  it('reports every change of a TP/SL order, and the order it becomes [6.3/tpsl-update 6.6/orders]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    await book.mint(ann, bob, 0.5, 20);
    const { socket } = await ann.stream('/order/ws');
    const [both, gone] = [
      await book.tpsl(ann, 'YES', 10, { t: 0.9, l: 0.3 }),
      await book.tpsl(ann, 'YES', 5, { t: 0.6 }),
    ];
    await ann.delete(`/orders/tpsl/${gone}`);
    const carl = await openAccount(target);
    await book.limit(carl, 'BUY', 'YES', 0.25, 10);
    await book.mint(carl, bob, 0.3, 1);
    const update = (i: string, q: number, prices: object, s: string) => ({
      t: 'TPSL_UPDATE',
      d: { i, u: ann.userId, a: book.market.yes, q, ...prices, s },
      r: null,
    });
    const [sold] = (await ann.get('/api/history/orders')).body.i;
    expect(await framesUntilNow(socket)).toEqual([
      update(both, 10, { tpp: 0.9, slp: 0.3 }, 'ACTIVE'),
      update(gone, 5, { tpp: 0.6, slp: null }, 'ACTIVE'),
      update(gone, 5, { tpp: 0.6, slp: null }, 'CANCELLED'),
      { t: 'ORDER_UPDATE', d: { i: sold.i, u: ann.userId, s: 'SUCCESS' }, r: null },
      update(both, 10, { tpp: 0.9, slp: 0.3 }, 'TRIGGERED'),
    ]);
  });

  it('a TP/SL order without shares or without a counterparty fails; a resolved market cancels it', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    await book.mint(ann, bob, 0.5, 20);
    const { socket } = await ann.stream('/order/ws');
    const reached = await book.tpsl(ann, 'YES', 10, { t: 0.5 });
    await book.limit(ann, 'SELL', 'YES', 0.9, 20);
    const nothingFree = await book.tpsl(ann, 'YES', 10, { t: 0.5 });
    const waits = await book.tpsl(ann, 'YES', 10, { t: 0.99 });
    const { eventId, marketId } = book.market;
    await target.control('POST', `/events/${eventId}/resolve`, { marketId, winner: 'YES' });
    const statuses = (await framesUntilNow(socket)).flatMap((frame) => {
      const { t, d } = frame as { t: string; d: { i: string; s: string } };
      return t === 'TPSL_UPDATE' ? [[d.i, d.s]] : [];
    });
    expect(statuses).toEqual([
      [reached, 'ACTIVE'],
      [reached, 'FAILED'],
      [nothingFree, 'ACTIVE'],
      [nothingFree, 'FAILED'],
      [waits, 'ACTIVE'],
      [waits, 'CANCELLED'],
    ]);
  });
});

describe('the balance stream (part 6.4)', () => {
  it('begins with all balances [6.4/auth]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    await book.mint(ann, bob, 0.4, 100);
    await book.limit(ann, 'SELL', 'YES', 0.9, 30);
    const { greeting } = await ann.stream('/balance/ws');
    expect(greeting.d.l).toEqual([
      { i: book.usdc, b: 959.92, f: 959.92 },
      { i: book.market.yes, b: 100, f: 70 },
    ]);
    expect(greeting.d.l).toEqual((await ann.get('/api/user-balances')).body);
  });

  it('sends every balance that a trade, lock, deposit, withdrawal or payout changes, without a type [6.4/update 6.6/balances]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    const { yes, eventId, marketId } = book.market;
    const { socket } = await ann.stream('/balance/ws');
    const usdc = (b: number, f: number) => ({ u: ann.userId, a: book.usdc, aop: 0, c: 0, b, f });
    const shares = (b: number, f: number, aop: number, c: number) => ({ u: ann.userId, a: yes, aop, c, b, f });
    await target.control('POST', '/deposits', { userId: ann.userId, amount: 0.5 });
    await target.control('POST', '/withdrawals', { userId: ann.userId, amount: 100.5 });
    expect(await framesUntilNow(socket)).toEqual([usdc(1000.5, 1000.5), usdc(900, 900)]);

    await book.limit(ann, 'BUY', 'YES', 0.4, 10);
    expect(await framesUntilNow(socket)).toEqual([usdc(900, 895.992)]);
    await book.limit(bob, 'BUY', 'NO', 0.6, 10);
    const filled = await framesUntilNow(socket);
    expect(filled).toContainEqual(usdc(896, 896));
    expect(filled).toContainEqual(shares(10, 10, 0.4, 4));
    expect(filled).toHaveLength(2);

    await book.limit(ann, 'SELL', 'YES', 0.7, 4);
    expect(await framesUntilNow(socket)).toEqual([shares(10, 6, 0.4, 4)]);
    await book.limit(bob, 'BUY', 'YES', 0.7, 4);
    const sold = await framesUntilNow(socket);
    expect(sold).toContainEqual(usdc(898.8, 898.8));
    expect(sold).toContainEqual(shares(6, 6, 0.4, 2.4));

    await target.control('POST', `/events/${eventId}/resolve`, { marketId, winner: 'YES' });
    const paid = await framesUntilNow(socket);
    expect(paid).toContainEqual(usdc(904.8, 904.8));
    expect(paid).toContainEqual(shares(0, 0, 0, 0));
    expect((await ann.get('/api/user-balances')).body).toEqual([{ i: book.usdc, b: 904.8, f: 904.8 }]);
  });

  it('sends each account its own balances only', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    const streams = [await ann.stream('/balance/ws'), await bob.stream('/balance/ws'), await bob.stream('/balance/ws')];
    await book.mint(ann, bob, 0.5, 10);
    const seen = await Promise.all(streams.map(({ socket }) => framesUntilNow(socket)));
    const owners = seen.map((frames) => new Set((frames as { u: string }[]).map(({ u }) => u)));
    expect(owners).toEqual([new Set([ann.userId]), new Set([bob.userId]), new Set([bob.userId])]);
    expect(seen[1]).toEqual(seen[2]);
  });
});

describe('connections', () => {
  it('1,000 at the same time, half of which never read or authenticate, do not affect the others', async () => {
    const account = await openAccount(target);
    const book = await Book.open(target);
    const idle = await Promise.all(Array.from({ length: 500 }, (_, n) => bareSocket(target, PATHS[n % 2] ?? '')));
    onTestFinished(() => {
      for (const socket of idle) socket.terminate();
    });
    for (const [n, socket] of idle.entries()) {
      if (n % 4 < 2) socket.send(JSON.stringify(authMessage(account.key, PATHS[n % 2] ?? '')));
      socket.pause();
    }
    const readers = await Promise.all(Array.from({ length: 500 }, () => account.stream('/order/ws')));
    const ids: string[] = [];
    for (let n = 0; n < 2; n++) ids.push(await book.limit(account, 'BUY', 'YES', 0.1, 1));
    for (const { socket } of readers) {
      const frames = (await framesUntilNow(socket)) as { d: { i: string } }[];
      expect(frames.map(({ d }) => d.i)).toEqual(ids);
    }
  });

  it('half-closed by the client end, and the exchange continues', async () => {
    const account = await openAccount(target);
    for (const path of PATHS) {
      const socket = await bareSocket(target, path);
      socket.send(JSON.stringify(authMessage(account.key, path)));
      await once(socket, 'message');
      const raw = (socket as unknown as { _socket: import('node:net').Socket })._socket;
      raw.end();
      await once(socket, 'close');
    }
    await target.control('POST', '/deposits', { userId: account.userId, amount: 1 });
    expect((await account.get('/api/user-balances')).body[0].b).toBe(1001);
  });
});
