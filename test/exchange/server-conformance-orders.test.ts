import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { conformanceTarget } from './conformance-target.js';
import { type Account, Book, failure, openAccount, openMarket, openMarkets, statusOf } from './server-accounts.js';

const target = await conformanceTarget();

const ordersOf = async (account: Account) => (await account.get('/api/history/orders?size=100')).body.i;
const activeOf = async (account: Account) => (await account.get('/api/history/deals/active-orders')).body.i;
const usdcOf = async (account: Account) => {
  const [{ b, f }] = (await account.get('/api/user-balances')).body;
  return [b, f];
};
/** Nothing that was refused left a trace. */
const untouched = async (account: Account, usdc = 1000) => {
  expect([await ordersOf(account), await activeOf(account), await usdcOf(account)]).toEqual([[], [], [usdc, usdc]]);
};

/** Values that no text field may have. */
const NO_TEXTS: unknown[] = [undefined, null, '', 0, 5, true, [], {}, ['x']];
const NO_NUMBERS: unknown[] = [undefined, null, '', '0.5', 'x', '☂', true, [], {}, [0.5]];
const UNKNOWN: string[] = ['x', randomUUID(), '☂'.repeat(300), '__proto__', "' OR 1=1 --", '\u0000'];

describe('POST /orders/limit (part 4.2)', () => {
  it('accepts an order, which rests until it is filled or cancelled [2/placement 3/limit-rests 4.2/limit]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    const { status, body } = await ann.post('/orders/limit', { ...book.target('YES'), s: 'BUY', p: 0.4, q: 10.5 });
    expect([status, body]).toEqual([200, { i: expect.any(String) }]);
    expect(await activeOf(ann)).toEqual([{ id: body.i, status: 'ACTIVE', side: 'BUY', price: 0.4, quantity: 10.5 }]);
    expect(await usdcOf(ann)).toEqual([1000, 995.7916]);
    await book.limit(bob, 'BUY', 'NO', 0.6, 4);
    expect(await activeOf(ann)).toMatchObject([{ id: body.i, quantity: 6.5 }]);
    await book.limit(bob, 'BUY', 'NO', 0.6, 6.5);
    expect(await activeOf(ann)).toEqual([]);
    expect(await ordersOf(ann)).toMatchObject([{ i: body.i, st: 'FILLED', oq: 10.5, q: 10.5 }]);
  });

  it('takes every price from 0.01 to 0.99 (part 8) for both outcomes, BUY and SELL [4.2/limit 8/price]', async () => {
    const ann = await openAccount(target, { usdc: 100_000 });
    const bob = await openAccount(target, { usdc: 100_000 });
    const book = await Book.open(target);
    await book.mint(ann, bob, 0.5, 500);
    for (const p of [0.01, 0.02, 0.29, 0.57, 0.58, 0.98, 0.99]) {
      for (const [account, outcome] of [
        [ann, 'YES'],
        [bob, 'NO'],
      ] as const) {
        const id = await book.limit(account, 'SELL', outcome, p, 1);
        expect(await activeOf(account)).toEqual([{ id, status: 'ACTIVE', side: 'SELL', price: p, quantity: 1 }]);
        expect((await account.delete(`/orders/limit/${id}`)).status).toBe(204);
      }
    }
  });

  it('refuses fields that are missing, of a wrong type or out of range with 400, and names the field [4.2/limit 7.2/400 8/price]', async () => {
    const ann = await openAccount(target);
    const book = await Book.open(target);
    const good = { ...book.target('YES'), s: 'BUY', p: 0.5, q: 1 };
    const wrong: Record<string, unknown[]> = {
      e: NO_TEXTS,
      o: NO_TEXTS,
      ba: [...NO_TEXTS, ...UNKNOWN, book.usdc],
      qa: [...NO_TEXTS, ...UNKNOWN, book.market.yes],
      s: [...NO_TEXTS, 'buy', 'HOLD', 'BUY ', '☂'],
      p: [...NO_NUMBERS, 0, -0.5, 0.009, 1, 0.995, 0.505, 0.1 + 0.2, 1e-9, 1e21, 99],
      q: [...NO_NUMBERS, 0, -1, 0.001, 1.005, 0.1 + 0.2, 1e-9, 1e15, 1e300, 1_000_000_001],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const [status, message] = failure(await ann.post('/orders/limit', { ...good, [field]: value }));
        expect([field, value, status]).toEqual([field, value, 400]);
        const badType = typeof value !== (field === 'p' || field === 'q' ? 'number' : 'string');
        if (badType) expect(message).toMatch(new RegExp(`^${field}: expected .*, got `));
        expect(message.length).toBeLessThanOrEqual(300);
      }
    }
    for (const body of [undefined, 'null', '[]', '5', '"x"', '{}', '{"p":0.5', '', '{"e":}', '﻿{}x']) {
      expect([body, statusOf(await ann.post('/orders/limit', body))]).toEqual([body, 400]);
    }
    await untouched(ann);
  });

  it('refuses an unknown event or market, and a market of another event, with 404', async () => {
    const ann = await openAccount(target);
    const book = await Book.open(target);
    const other = await openMarket(target);
    const good = { ...book.target('YES'), s: 'BUY', p: 0.5, q: 1 };
    for (const id of [...UNKNOWN, book.usdc, ann.userId, other.eventId]) {
      expect([id, statusOf(await ann.post('/orders/limit', { ...good, e: id }))]).toEqual([id, 404]);
    }
    for (const id of [...UNKNOWN, book.usdc, other.marketId]) {
      expect([id, statusOf(await ann.post('/orders/limit', { ...good, o: id }))]).toEqual([id, 404]);
    }
    expect(statusOf(await ann.post('/orders/limit', { ...good, ba: other.yes }))).toBe(400);
    await untouched(ann);
  });

  it('rejects an order that exceeds the funds or shares of the account with 400, exactly', async () => {
    const ann = await openAccount(target, { usdc: 50.1 });
    const book = await Book.open(target);
    const order = (s: string, q: number) => ann.post('/orders/limit', { ...book.target('YES'), s, p: 0.5, q });
    expect(failure(await order('BUY', 100.01))).toEqual([400, expect.stringContaining('USDC needed')]);
    expect(failure(await order('SELL', 0.01))).toEqual([400, expect.stringContaining('shares needed')]);
    await untouched(ann, 50.1);
    expect((await order('BUY', 100)).status).toBe(200);
    expect(await usdcOf(ann)).toEqual([50.1, 0]);
    expect(statusOf(await order('BUY', 0.01))).toBe(400);
  });

  it('refuses a resolved market with 400', async () => {
    const ann = await openAccount(target);
    const [first] = await openMarkets(target, 0.5, 0.5);
    if (!first) throw new Error('no market');
    const { eventId: e, marketId: o, yes: ba } = first;
    await target.control('POST', `/events/${e}/resolve`, { marketId: o, winner: 'YES' });
    const qa = (await Book.open(target)).usdc;
    expect(failure(await ann.post('/orders/limit', { e, o, ba, qa, s: 'BUY', p: 0.5, q: 1 }))).toEqual([
      400,
      'the market is resolved',
    ]);
  });

  it('uses the last value of a repeated field, and ignores unknown fields', async () => {
    const ann = await openAccount(target);
    const book = await Book.open(target);
    const good = JSON.stringify({ ...book.target('YES'), s: 'BUY', p: 0.5, q: 1 });
    const more = `${good.slice(0, -1)},"q":2,"p":0.3,"__proto__":{"q":5},"constructor":1,"☂":"☂"}`;
    expect((await ann.post('/orders/limit', more)).status).toBe(200);
    expect(await activeOf(ann)).toMatchObject([{ price: 0.3, quantity: 2 }]);
  });
});

describe('POST /orders/market (part 4.2)', () => {
  it('a BUY spends up to am, fee included, immediately and at the best price; the rest is not spent [3/market-executes 4.2/market]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    await book.limit(bob, 'BUY', 'NO', 0.7, 10);
    await book.limit(bob, 'BUY', 'NO', 0.6, 100);
    const { status, body } = await ann.post('/orders/market', { ...book.target('YES'), s: 'BUY', am: 10 });
    expect([status, body]).toEqual([200, { i: expect.any(String) }]);
    // 10 at 0.30 cost 3 and 0.006 of fee; 17.45 at 0.40 cost 6.98 and 0.01396 of fee.
    expect(await usdcOf(ann)).toEqual([0.00004 + 990, 0.00004 + 990]);
    expect(await ordersOf(ann)).toMatchObject([{ i: body.i, t: 'MARKET', si: 'BUY', st: 'FILLED', q: 27.45 }]);
  });

  it('a SELL sells up to q; the rest is cancelled [4.2/market]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    await book.mint(ann, bob, 0.5, 20);
    await book.limit(bob, 'BUY', 'YES', 0.45, 5);
    const id = await book.sell(ann, 'YES', 20);
    expect(await ordersOf(ann)).toMatchObject([{ i: id, t: 'MARKET', st: 'CANCELLED', oq: 20, q: 5 }, {}]);
    expect(await activeOf(ann)).toEqual([]);
  });

  it('without a counterparty is accepted and becomes FAILED', async () => {
    const ann = await openAccount(target);
    const book = await Book.open(target);
    const { status, body } = await ann.post('/orders/market', { ...book.target('NO'), s: 'BUY', am: 10 });
    expect(status).toBe(200);
    expect(await ordersOf(ann)).toMatchObject([{ i: body.i, st: 'FAILED', q: 0 }]);
    expect(await usdcOf(ann)).toEqual([1000, 1000]);
  });

  it('requires am to buy and q to sell, and rejects an invalid amount with 400 [4.2/market]', async () => {
    const ann = await openAccount(target);
    const book = await Book.open(target);
    const buy = { ...book.target('YES'), s: 'BUY', am: 1 };
    const sell = { ...book.target('YES'), s: 'SELL', q: 1 };
    const wrong: [object, string, unknown[]][] = [
      [buy, 'am', [...NO_NUMBERS, 0, -1, 1e-7, 0.000_000_5, 1e15, 1e300, 1000.000001, 1001]],
      [sell, 'q', [...NO_NUMBERS, 0, -1, 0.001, 1e15, 1e300, 1]],
      [buy, 's', [...NO_TEXTS, 'buy', 'SELL']],
      [buy, 'e', NO_TEXTS],
      [buy, 'o', NO_TEXTS],
      [buy, 'ba', [...NO_TEXTS, ...UNKNOWN]],
      [buy, 'qa', [...NO_TEXTS, ...UNKNOWN]],
    ];
    for (const [good, field, values] of wrong) {
      for (const value of values) {
        const answer = await ann.post('/orders/market', { ...good, [field]: value });
        expect([field, value, statusOf(answer)]).toEqual([field, value, 400]);
      }
    }
    expect(statusOf(await ann.post('/orders/market', { ...book.target('YES'), s: 'BUY', q: 1 }))).toBe(400);
    expect(statusOf(await ann.post('/orders/market', { ...book.target('YES'), s: 'SELL', am: 1 }))).toBe(400);
    expect(statusOf(await ann.post('/orders/market', { ...buy, e: randomUUID() }))).toBe(404);
    expect(statusOf(await ann.post('/orders/market', { ...buy, o: randomUUID() }))).toBe(404);
    await untouched(ann);
  });
});

describe('DELETE /orders/limit/{orderId} (part 4.2)', () => {
  it('cancels an active order once and unlocks its funds [4.2/cancel]', async () => {
    const ann = await openAccount(target);
    const book = await Book.open(target);
    const id = await book.limit(ann, 'BUY', 'YES', 0.4, 10);
    const answer = await ann.delete(`/orders/limit/${id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await usdcOf(ann)).toEqual([1000, 1000]);
    expect(await ordersOf(ann)).toMatchObject([{ i: id, st: 'CANCELLED' }]);
    expect(statusOf(await ann.delete(`/orders/limit/${id}`))).toBe(404);
  });

  it("answers 404 for filled, failed, other users' and unknown orders [4.2/cancel 7.2/404]", async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    const filled = await book.limit(ann, 'BUY', 'YES', 0.4, 10);
    await book.limit(bob, 'BUY', 'NO', 0.6, 10);
    const failed = await book.buy(ann, 'YES', 1);
    const bobs = await book.limit(bob, 'BUY', 'NO', 0.1, 1);
    const tpsl = await book.tpsl(ann, 'YES', 1, { t: 0.9 });
    const unknown = [randomUUID(), 'x', '%E2%98%82', '..%2f', '%00', 'x'.repeat(5000)];
    for (const id of [filled, failed, bobs, tpsl, ...unknown]) {
      expect([id, statusOf(await ann.delete(`/orders/limit/${id}`))]).toEqual([id, 404]);
    }
    expect(statusOf(await ann.delete('/orders/limit/'))).toBe(404);
    expect(statusOf(await ann.delete('/orders/limit/%ff'))).toBe(404);
    expect(await activeOf(bob)).toMatchObject([{ id: bobs }]);
  });
});

describe('TP/SL orders (part 4.2)', () => {
  const listed = async (account: Account, query: string) => (await account.get(`/orders/tpsl?${query}`)).body;
  const holder = async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const book = await Book.open(target);
    await book.mint(ann, bob, 0.5, 20);
    return { ann, bob, book };
  };

  it('are placed with a take-profit, a stop-loss or both, and listed with null for unset prices [2/tpsl 4.2/tpsl]', async () => {
    const { ann, book } = await holder();
    const { yes } = book.market;
    const place = (more: object) =>
      ann.post('/orders/tpsl', { ...book.target('YES'), i: 'YES', s: 'SELL', q: 5, ...more });
    const bodies = [
      { t: 0.8 },
      { l: 0.2 },
      { t: 0.99, l: 0.01, oa: yes },
      { t: 0.7, l: null, oa: null },
      { t: 0.9, oa: book.usdc },
    ];
    const ids: string[] = [];
    for (const body of bodies) {
      const answer = await place(body);
      expect([answer.status, answer.body]).toEqual([200, { i: expect.any(String) }]);
      ids.push(answer.body.i);
    }
    expect(await listed(ann, `assetId=${yes}`)).toEqual([
      { i: ids[0], q: 5, tpp: 0.8, slp: null },
      { i: ids[1], q: 5, tpp: null, slp: 0.2 },
      { i: ids[2], q: 5, tpp: 0.99, slp: 0.01 },
      { i: ids[3], q: 5, tpp: 0.7, slp: null },
      { i: ids[4], q: 5, tpp: 0.9, slp: null },
    ]);
  });

  it('close the position when the price reaches take-profit or stop-loss [3/tpsl-closes]', async () => {
    for (const [prices, price] of [
      [{ t: 0.6 }, 0.6],
      [{ l: 0.4 }, 0.4],
      [{ t: 0.9, l: 0.45 }, 0.44],
    ] as const) {
      const { ann, bob, book } = await holder();
      const id = await book.tpsl(ann, 'YES', 20, prices);
      const carl = await openAccount(target);
      await book.limit(carl, 'BUY', 'YES', 0.3, 20);
      await book.mint(carl, bob, price, 1);
      expect(await listed(ann, `assetId=${book.market.yes}&status=TRIGGERED`)).toMatchObject([{ i: id }]);
      expect((await ann.get('/api/history/deals/open-positions')).body.i).toEqual([]);
      expect(await ordersOf(ann)).toMatchObject([{ t: 'MARKET', si: 'SELL', q: 20, st: 'FILLED' }, {}]);
    }
  });

  it('need at least one price in range, a quantity that is held, SELL, and the outcome of the asset [4.2/tpsl 8/price]', async () => {
    const { ann, bob, book } = await holder();
    const good = { ...book.target('YES'), i: 'YES', s: 'SELL', q: 5, t: 0.8 };
    const { t, ...without } = good;
    expect(t).toBe(0.8);
    const wrong: [object, string, unknown[]][] = [
      [good, 'i', [...NO_TEXTS, 'NO', 'yes', 'x']],
      [good, 's', [...NO_TEXTS, 'BUY', 'sell']],
      [good, 'q', [...NO_NUMBERS, 0, -1, 0.001, 20.01, 1e300]],
      [without, 't', [undefined, null, '0.8', 0, 1, 0.005, 0.805, -0.5, true, {}]],
      [without, 'l', [undefined, null, '0.8', 0, 1, 0.005, 0.805, -0.5, true, {}]],
      [good, 'l', ['0.8', 0, 1, 0.805]],
      [good, 'oa', ['', 5, 'x', randomUUID(), {}]],
      [good, 'ba', [...NO_TEXTS, ...UNKNOWN, book.market.no]],
      [good, 'qa', [...NO_TEXTS, ...UNKNOWN]],
      [good, 'e', NO_TEXTS],
      [good, 'o', NO_TEXTS],
    ];
    for (const [body, field, values] of wrong) {
      for (const value of values) {
        const answer = await ann.post('/orders/tpsl', { ...body, [field]: value });
        expect([field, value, statusOf(answer)]).toEqual([field, value, 400]);
      }
    }
    expect(statusOf(await ann.post('/orders/tpsl', { ...good, e: randomUUID() }))).toBe(404);
    expect(statusOf(await ann.post('/orders/tpsl', { ...good, o: randomUUID() }))).toBe(404);
    expect(statusOf(await bob.post('/orders/tpsl', good))).toBe(400);
    expect(await listed(ann, `assetId=${book.market.yes}`)).toEqual([]);
  });

  it('are cancelled once, by their owner [4.2/tpsl-cancel]', async () => {
    const { ann, bob, book } = await holder();
    const id = await book.tpsl(ann, 'YES', 20, { t: 0.9 });
    expect(statusOf(await bob.delete(`/orders/tpsl/${id}`))).toBe(404);
    const order = await book.limit(bob, 'BUY', 'YES', 0.01, 1);
    expect(statusOf(await bob.delete(`/orders/tpsl/${order}`))).toBe(404);
    const answer = await ann.delete(`/orders/tpsl/${id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    for (const other of [id, randomUUID(), 'x', '☂']) {
      expect([other, statusOf(await ann.delete(`/orders/tpsl/${encodeURIComponent(other)}`))]).toEqual([other, 404]);
    }
    expect(await listed(ann, `assetId=${book.market.yes}&status=CANCELLED`)).toMatchObject([{ i: id }]);
  });

  it('are listed by asset, primary and status [2/tpsl 4.2/tpsl-list]', async () => {
    const { ann, bob, book } = await holder();
    const { yes, no } = book.market;
    const kept = await book.tpsl(ann, 'YES', 5, { t: 0.9 });
    const gone = await book.tpsl(ann, 'YES', 6, { t: 0.9 });
    await ann.delete(`/orders/tpsl/${gone}`);
    const bobs = await book.tpsl(bob, 'NO', 7, { l: 0.1 });
    const ids = async (account: Account, query: string) =>
      (await listed(account, query)).map((tpsl: { i: string }) => tpsl.i);
    expect(await ids(ann, `assetId=${yes}`)).toEqual([kept, gone]);
    expect(await ids(ann, `assetId=${yes}&status=ACTIVE`)).toEqual([kept]);
    expect(await ids(ann, `assetId=${yes}&status=CANCELLED&primary=true`)).toEqual([gone]);
    expect(await ids(ann, `assetId=${yes}&status=TRIGGERED`)).toEqual([]);
    expect(await ids(ann, `assetId=${yes}&primary=false`)).toEqual([]);
    expect(await ids(ann, `assetId=${no}`)).toEqual([]);
    expect(await ids(bob, `assetId=${no}&primary=false`)).toEqual([bobs]);
    const wrong = ['', 'assetId=', 'assetId=x', `assetId=${book.usdc}`, `assetId=${book.market.marketId}`];
    const rest = ['primary=', 'primary=1', 'primary=TRUE', 'status=', 'status=active', 'status=☂'];
    for (const query of [...wrong, ...rest.map((more) => `assetId=${yes}&${more}`)]) {
      expect([query, statusOf(await ann.get(`/orders/tpsl?${query}`))]).toEqual([query, 400]);
    }
  });
});
