import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { conformanceTarget } from './conformance-target.js';
import {
  type Account,
  Book,
  nowSeconds,
  openAccount,
  openMarkets,
  statusOf,
  type TestMarket,
  usdcOf,
} from './server-accounts.js';

const target = await conformanceTarget();

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const justNow = (text: string) => Math.abs(Date.parse(text) / 1000 - nowSeconds()) < 60;
const read = async (account: Account, path: string) => {
  const { status, body, text } = await account.get(path);
  if (status !== 200) throw new Error(`${path} answered ${text}`);
  return body;
};
const resolve = async ({ eventId, marketId }: TestMarket, winner: 'YES' | 'NO') => {
  const { status } = await target.control('POST', `/events/${eventId}/resolve`, { marketId, winner });
  expect(status).toBe(200);
};

/** Two traders, ann long YES at 0.4, bob long NO, with some of both sold again. */
async function traded() {
  const [ann, bob] = [await openAccount(target), await openAccount(target)];
  const book = await Book.open(target, 0.5);
  await book.limit(bob, 'BUY', 'NO', 0.6, 100);
  const order = await book.limit(ann, 'BUY', 'YES', 0.4, 100);
  return { ann, bob, book, order };
}

describe('balances (part 4.3)', () => {
  it('are an array of asset, balance and free balance, USDC first, exact to the last unit [2/balance 4.3/balances]', async () => {
    const { ann, bob, book } = await traded();
    await book.limit(ann, 'SELL', 'YES', 0.9, 30);
    // 100 at 0.40 and the taker's fee of 0.2 %.
    expect(await read(ann, '/api/user-balances')).toEqual([
      { i: book.usdc, b: 959.92, f: 959.92 },
      { i: book.market.yes, b: 100, f: 70 },
    ]);
    expect(await read(bob, '/api/user-balances')).toEqual([
      { i: book.usdc, b: 940, f: 940 },
      { i: book.market.no, b: 100, f: 100 },
    ]);
  });

  it('with /full carry name, ticker and value in USDC [4.3/balances-full]', async () => {
    const { ann, bob, book } = await traded();
    const { title, name, yes, no } = book.market;
    expect(await read(ann, '/api/user-balances/full')).toEqual([
      { i: book.usdc, b: 959.92, f: 959.92, n: 'USD Coin', sn: 'USDC', v: 959.92 },
      { i: yes, b: 100, f: 100, n: `${title}: ${name}`, sn: 'YES', v: 40 },
    ]);
    expect((await read(bob, '/api/user-balances/full'))[1]).toMatchObject({ i: no, sn: 'NO', v: 60 });
  });
});

describe('the deposit address (parts 2, 4.3)', () => {
  it('is there once something was deposited, the same at every call, another for every account; 404 before [2/deposit-address 4.3/deposit-address]', async () => {
    const account = await openAccount(target, { usdc: 0 });
    expect(statusOf(await account.bearer('GET', '/api/deposit/usdc-address'))).toBe(404);
    await target.control('POST', '/deposits', { userId: account.userId, amount: 5 });
    const { status, body } = await account.bearer('GET', '/api/deposit/usdc-address');
    expect([status, body]).toEqual([200, { i: await usdcOf(target), a: expect.stringMatching(/^0x[0-9a-f]{40}$/) }]);
    expect((await account.bearer('GET', '/api/deposit/usdc-address')).body).toEqual(body);
    const other = await (await openAccount(target)).bearer('GET', '/api/deposit/usdc-address');
    expect(other.body.a).not.toBe(body.a);
  });
});

describe('transactions (parts 2, 4.3)', () => {
  const of = async (account: Account, query = '') => (await account.bearer('GET', `/api/transactions${query}`)).body;

  it('show deposits, withdrawals and payouts, newest first, with every documented field [2/transaction]', async () => {
    const { ann, bob, book } = await traded();
    const { market, usdc } = book;
    await target.control('POST', '/deposits', { userId: ann.userId, amount: 0.000001 });
    await target.control('POST', '/withdrawals', { userId: ann.userId, amount: 59.92 });
    await resolve(market, 'YES');
    const page = await of(ann);
    expect(page).toMatchObject({ p: 0, s: 20, tp: 1 });
    const money = { u: ann.userId, a: usdc, eq: '', ei: '', es: '', on: '', tn: '', ip: false };
    const chain = { e: expect.stringMatching(/^0x/), bu: expect.stringMatching(/^https:/), bn: 'Polygon' };
    const every = { i: expect.any(String), s: 'COMPLETED', f: 0, cat: expect.stringMatching(ISO) };
    expect(page.i).toEqual([
      {
        ...every,
        u: ann.userId,
        a: market.yes,
        eq: market.title,
        ei: expect.stringMatching(/^https:/),
        es: market.slug,
        on: market.name,
        tn: 'YES',
        ip: true,
        t: 'PAYOUT',
        am: 100,
        e: '',
        ta: '',
        bu: '',
        bn: '',
      },
      { ...every, ...money, ...chain, t: 'WITHDRAWAL', am: 59.92, ta: expect.stringMatching(/^0x/) },
      { ...every, ...money, ...chain, t: 'DEPOSIT', am: 0.000001, ta: '' },
      { ...every, ...money, ...chain, t: 'DEPOSIT', am: 1000, ta: '' },
    ]);
    expect(new Set(page.i.map(({ i }: { i: string }) => i)).size).toBe(4);
    const [lost] = (await of(bob)).i;
    expect(lost).toMatchObject({ t: 'PAYOUT', a: market.no, am: 0, tn: 'NO', ip: false });
  });

  it('have pages of 20 unless size is given [4.3/transactions]', async () => {
    const account = await openAccount(target, { usdc: 1 });
    for (let n = 2; n <= 23; n++) await target.control('POST', '/deposits', { userId: account.userId, amount: n });
    const amounts = async (query: string) => (await of(account, query)).i.map(({ am }: { am: number }) => am);
    const all = Array.from({ length: 23 }, (_, n) => 23 - n);
    expect(await amounts('')).toEqual(all.slice(0, 20));
    expect(await amounts('?page=1')).toEqual(all.slice(20));
    expect(await amounts('?page=2&size=7')).toEqual(all.slice(14, 21));
    expect(await of(account, '?page=9&size=7')).toEqual({ i: [], p: 9, s: 7, tp: 4 });
    for (const query of ['?page=-1', '?size=0', '?size=x', '?page=']) {
      expect([query, statusOf(await account.bearer('GET', `/api/transactions${query}`))]).toEqual([query, 400]);
    }
  });
});

describe('open positions (parts 2, 4.4)', () => {
  it('show every documented field [2/open-position 4.4/open-positions]', async () => {
    const { ann, bob, book, order } = await traded();
    await book.limit(ann, 'SELL', 'YES', 0.9, 25);
    const tpsl = await book.tpsl(ann, 'YES', 10, { t: 0.95, l: 0.05 });
    const cancelled = await book.tpsl(ann, 'YES', 10, { t: 0.95 });
    await ann.delete(`/orders/tpsl/${cancelled}`);
    await book.mint(await openAccount(target), bob, 0.45, 1);
    const { market } = book;
    const image = expect.stringMatching(/^https:/);
    expect(await read(ann, '/api/history/deals/open-positions')).toEqual({
      i: [
        {
          oi: order,
          ei: market.eventId,
          eoi: market.marketId,
          ai: market.yes,
          et: market.title,
          eic: image,
          es: market.slug,
          eim: image,
          on: market.name,
          tn: 'YES',
          ip: true,
          tsc: 100,
          asc: 75,
          sp: 0.4,
          c: 40,
          cp: 0.45,
          v: 45,
          tpsl: [{ i: tpsl, q: 10, tpp: 0.95, slp: 0.05 }],
          pv: 5,
          pp: 12.5,
          od: expect.stringMatching(ISO),
        },
      ],
      p: 0,
      s: 100,
      tp: 1,
    });
    const [bobs] = (await read(bob, '/api/history/deals/open-positions')).i;
    expect(bobs).toMatchObject({
      ai: market.no,
      tn: 'NO',
      ip: false,
      tsc: 101,
      cp: 0.55,
      c: 60.55,
      v: 55.55,
      pv: -5,
      tpsl: [],
    });
    expect(bobs.sp).toBe(0.599505);
  });

  it('lose their cost in proportion when a part is sold, and end when all is', async () => {
    const { ann, bob, book } = await traded();
    await book.limit(bob, 'BUY', 'YES', 0.7, 100);
    await book.sell(ann, 'YES', 25);
    expect((await read(ann, '/api/history/deals/open-positions')).i).toMatchObject([{ tsc: 75, c: 30, sp: 0.4 }]);
    await book.sell(ann, 'YES', 75);
    expect((await read(ann, '/api/history/deals/open-positions')).i).toEqual([]);
  });

  it('end with the market, paid 1 USDC per winning share', async () => {
    const { ann, bob, book } = await traded();
    await resolve(book.market, 'NO');
    for (const [account, usdc] of [
      [ann, 959.92],
      [bob, 1040],
    ] as const) {
      expect((await read(account, '/api/history/deals/open-positions')).i).toEqual([]);
      expect(await read(account, '/api/user-balances')).toEqual([{ i: book.usdc, b: usdc, f: usdc }]);
    }
  });
});

describe('active orders (parts 2, 4.4)', () => {
  it('show what rests, with what remains of it, and end with the market [2/active-order 4.4/active-orders]', async () => {
    const { ann, bob, book } = await traded();
    const [buy, sell] = [await book.limit(ann, 'BUY', 'YES', 0.3, 10), await book.limit(ann, 'SELL', 'YES', 0.8, 20)];
    await book.limit(bob, 'BUY', 'YES', 0.8, 5);
    expect(await read(ann, '/api/history/deals/active-orders')).toEqual({
      i: [
        { id: buy, status: 'ACTIVE', side: 'BUY', price: 0.3, quantity: 10 },
        { id: sell, status: 'ACTIVE', side: 'SELL', price: 0.8, quantity: 15 },
      ],
      p: 0,
      s: 100,
      tp: 1,
    });
    await resolve(book.market, 'YES');
    expect((await read(ann, '/api/history/deals/active-orders')).i).toEqual([]);
    expect((await read(ann, '/api/history/orders')).i).toMatchObject([
      { i: sell, st: 'CANCELLED', q: 5 },
      { i: buy, st: 'CANCELLED', q: 0 },
      { st: 'FILLED' },
    ]);
  });
});

describe('order history (parts 2, 4.4)', () => {
  it('shows every documented field of limit and market orders [2/order]', async () => {
    const { ann, bob, book, order } = await traded();
    await book.limit(bob, 'BUY', 'YES', 0.2, 10);
    await book.limit(bob, 'BUY', 'YES', 0.3, 10);
    const market = await book.sell(ann, 'YES', 30);
    const { eventId: e, marketId: o, yes: a } = book.market;
    const page = await read(ann, '/api/history/orders');
    const every = { u: ann.userId, e, o, a, ex: null, m: expect.any(Number) };
    expect(page).toEqual({
      i: [
        { ...every, i: market, oq: 30, si: 'SELL', t: 'MARKET', p: 0.25, st: 'CANCELLED', q: 20 },
        { ...every, i: order, oq: 100, si: 'BUY', t: 'LIMIT', p: 0.4, st: 'FILLED', q: 100 },
      ],
      p: 0,
      s: 20,
      tp: 1,
    });
    expect(Math.abs(page.i[0].m / 1000 - nowSeconds())).toBeLessThan(60);
    expect(Number.isInteger(page.i[0].m)).toBe(true);
  });

  it('is sorted, filtered by market and paged [4.4/orders]', async () => {
    const ann = await openAccount(target);
    const markets = await openMarkets(target, 0.5, 0.5);
    const qa = await usdcOf(target);
    const ids: string[] = [];
    for (let n = 0; n < 45; n++) {
      const { eventId: e, marketId: o, yes: ba } = markets[n % 2] ?? fail();
      const { body } = await ann.post('/orders/limit', { e, o, ba, qa, s: 'BUY', p: 0.01, q: 1 });
      ids.push(body.i);
    }
    const of = async (query: string) => {
      const { i, ...rest } = await read(ann, `/api/history/orders?${query}`);
      return { ...rest, ids: i.map((order: { i: string }) => order.i) };
    };
    const newest = ids.toReversed();
    expect(await of('')).toEqual({ p: 0, s: 20, tp: 3, ids: newest.slice(0, 20) });
    expect(await of('page=2')).toEqual({ p: 2, s: 20, tp: 3, ids: newest.slice(40) });
    expect(await of('sort=desc&size=3')).toEqual({ p: 0, s: 3, tp: 15, ids: newest.slice(0, 3) });
    expect(await of('sort=asc&size=3&page=1')).toEqual({ p: 1, s: 3, tp: 15, ids: ids.slice(3, 6) });
    expect(await of('page=3')).toEqual({ p: 3, s: 20, tp: 3, ids: [] });
    expect(await of('size=1000&page=99999999999999999999')).toMatchObject({ s: 100, tp: 1, ids: [] });
    const odd = ids.filter((_, n) => n % 2 === 1);
    const filter = `eventOutcomeId=${markets[1]?.marketId}`;
    expect(await of(`${filter}&sort=asc&size=100`)).toEqual({ p: 0, s: 100, tp: 1, ids: odd });
    expect(await of(`${filter}&page=1&size=10`)).toEqual({ p: 1, s: 10, tp: 3, ids: odd.toReversed().slice(10, 20) });
    for (const unknown of [randomUUID(), 'x', '%E2%98%82', '__proto__']) {
      expect(await of(`eventOutcomeId=${unknown}`)).toEqual({ p: 0, s: 20, tp: 0, ids: [] });
    }
  });
});

describe('trade history (parts 2, 4.4)', () => {
  it('shows each side its own record of a fill, with one trade ID, the fee of the taker alone [2/trade]', async () => {
    const { ann, bob, book, order } = await traded();
    const { eventId: e, marketId: o, yes, no } = book.market;
    const annPage = await read(ann, '/api/history/trades');
    const bobPage = await read(bob, '/api/history/trades');
    const [mine] = annPage.i;
    expect(annPage).toEqual({
      i: [
        {
          i: expect.any(String),
          t: expect.any(String),
          u: ann.userId,
          or: order,
          s: 'BUY',
          e,
          o,
          a: yes,
          q: 100,
          p: 0.4,
          f: 0.08,
          m: expect.stringMatching(ISO),
        },
      ],
      p: 0,
      s: 20,
      tp: 1,
    });
    expect(justNow(mine.m)).toBe(true);
    const [theirs] = bobPage.i;
    expect(theirs).toMatchObject({ t: mine.t, u: bob.userId, s: 'BUY', a: no, q: 100, p: 0.6, f: 0, m: mine.m });
    expect(theirs.i).not.toBe(mine.i);
  });

  it('is filtered by market and paged, newest first [4.4/trades]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const [first, second] = [await Book.open(target), await Book.open(target)];
    for (let n = 1; n <= 12; n++) await (n % 3 === 0 ? second : first).mint(ann, bob, 0.5, n);
    const quantities = async (query: string) =>
      (await read(ann, `/api/history/trades?${query}`)).i.map(({ q }: { q: number }) => q);
    expect(await quantities('size=5')).toEqual([12, 11, 10, 9, 8]);
    expect(await quantities('size=5&page=2')).toEqual([2, 1]);
    expect(await quantities(`eventOutcomeId=${second.market.marketId}`)).toEqual([12, 9, 6, 3]);
    expect(await quantities(`eventOutcomeId=${second.market.marketId}&size=3&page=1`)).toEqual([3]);
    expect(await quantities(`eventOutcomeId=${randomUUID()}`)).toEqual([]);
  });
});

describe('the activity feed (parts 2, 4.4)', () => {
  it("has the fills of all users, the taker's side, with the total of items [2/activity 4.4/wrapper 4.4/activity]", async () => {
    const before = (await read(await openAccount(target), '/api/history/activity')).t;
    const { ann, bob, book } = await traded();
    const reader = await openAccount(target);
    const page = await read(reader, '/api/history/activity?size=1');
    expect(page).toMatchObject({ p: 0, s: 1, t: before + 1 });
    expect(page).not.toHaveProperty('tp');
    const { market } = book;
    const [trade] = (await read(ann, '/api/history/trades')).i;
    const profile = (await read(ann, `/api/history/stats/profile/${ann.userId}`)).profile;
    expect(page.i).toEqual([
      {
        u: ann.userId,
        tra: trade.i,
        n: profile.username,
        oi: market.marketId,
        on: market.name,
        p: 'YES',
        si: 'BUY',
        q: 100,
        x: trade.m,
        eq: market.title,
        ei: expect.stringMatching(/^https:/),
        es: market.slug,
        tn: 'YES',
        ip: true,
        pr: 0.4,
        ev: 40,
        uv: 40,
      },
    ]);
    await book.limit(ann, 'SELL', 'YES', 0.55, 10);
    await book.limit(bob, 'BUY', 'YES', 0.55, 10);
    expect((await read(reader, '/api/history/activity?size=2')).i).toMatchObject([
      { u: bob.userId, si: 'BUY', q: 10, pr: 0.55, ev: 45.5 },
      { u: ann.userId, q: 100 },
    ]);
    expect((await read(reader, '/api/history/activity')).s).toBe(20);
  });
});

describe('profile and position stats (parts 2, 4.4)', () => {
  it('have the value and volume of an account, and whether it is the caller [2/stats 4.4/profile]', async () => {
    const { ann, bob, book } = await traded();
    const path = `/api/history/stats/profile/${ann.userId}`;
    const own = await read(ann, path);
    expect(own).toEqual({
      profile: { userId: ann.userId, username: expect.any(String), joinedAt: expect.stringMatching(ISO), me: true },
      cards: { positionValue: 40, volumeTraded: 40, marketsTraded: 1 },
    });
    expect(await read(bob, path)).toEqual({ ...own, profile: { ...own.profile, me: false } });
    expect((await read(bob, `/api/history/stats/profile/${bob.userId}`)).cards).toEqual({
      positionValue: 60,
      volumeTraded: 60,
      marketsTraded: 1,
    });
    await resolve(book.market, 'YES');
    expect((await read(ann, path)).cards).toEqual({ positionValue: 0, volumeTraded: 40, marketsTraded: 1 });
  });

  it('count open and closed positions [2/position-stats 4.4/position-stats]', async () => {
    const { ann, bob, book } = await traded();
    const path = `/api/history/stats/profile/${ann.userId}/positions`;
    expect(await read(bob, path)).toEqual({ tab: 'active', ti: 1, od: expect.stringMatching(ISO), cd: null });
    await book.limit(bob, 'BUY', 'YES', 0.4, 100);
    await book.sell(ann, 'YES', 100);
    const closed = { tab: 'closed', ti: 1, od: null, cd: expect.stringMatching(ISO) };
    expect(await read(ann, path)).toEqual(closed);
    expect(await read(ann, `${path}?tab=active`)).toEqual({ ...closed, tab: 'active', ti: 0 });
    expect(statusOf(await ann.get(`${path}?tab=all`))).toBe(400);
  });

  it('of an unknown user answer 404 [4.4/profile]', async () => {
    const account = await openAccount(target);
    for (const id of ['x', randomUUID(), '__proto__', '%E2%98%82', account.email]) {
      expect([id, statusOf(await account.get(`/api/history/stats/profile/${id}`))]).toEqual([id, 404]);
      expect([id, statusOf(await account.get(`/api/history/stats/profile/${id}/positions`))]).toEqual([id, 404]);
    }
  });
});

describe('pages (parts 4.4, 8)', () => {
  const PRESETS: [string, number][] = [
    ['/api/history/deals/open-positions', 100],
    ['/api/history/deals/active-orders', 100],
    ['/api/history/orders', 20],
    ['/api/history/trades', 20],
    ['/api/history/activity', 20],
  ];

  it('begin at 0 and have their documented sizes; larger ones are cut to 100, past the end is empty [4.4/wrapper 8/page-size 8/page-number]', async () => {
    const account = await openAccount(target);
    for (const [path, size] of PRESETS) {
      expect([path, await read(account, path)]).toMatchObject([path, { p: 0, s: size }]);
      expect([path, await read(account, `${path}?size=101&page=1000000`)]).toMatchObject([
        path,
        { i: [], p: 1e6, s: 100 },
      ]);
    }
  });

  it('that are none answer 400', async () => {
    const account = await openAccount(target);
    const queries = ['page=-1', 'page=x', 'page=1.5', 'page=', 'page=1e3', 'page=%E2%98%82', `page=${'9'.repeat(400)}`];
    const sizes = ['size=0', 'size=-5', 'size=x', 'size=', 'size=0x10', 'size=NaN'];
    for (const [path] of PRESETS) {
      for (const query of [...queries, ...sizes]) {
        expect([path, query, statusOf(await account.get(`${path}?${query}`))]).toEqual([path, query, 400]);
      }
    }
    for (const query of ['sort=', 'sort=up', 'sort=DESC', 'eventOutcomeId=']) {
      expect([query, statusOf(await account.get(`/api/history/orders?${query}`))]).toEqual([query, 400]);
    }
    expect(statusOf(await account.get('/api/history/trades?eventOutcomeId='))).toBe(400);
  });

  it('of open positions and active orders hold together [4.4/open-positions 4.4/active-orders]', async () => {
    const account = await openAccount(target);
    const book = await Book.open(target);
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.push(await book.limit(account, 'BUY', 'YES', 0.1, 1 + n));
    const page = async (n: number) => (await read(account, `/api/history/deals/active-orders?size=3&page=${n}`)).i;
    const pages = (await Promise.all([0, 1, 2, 3].map(page))).flat();
    expect(pages.map(({ id }: { id: string }) => id)).toEqual(ids);
  });
});

describe('no account', () => {
  it('has access to records, orders or money of another', async () => {
    const { ann, bob, book, order } = await traded();
    await book.tpsl(ann, 'YES', 5, { t: 0.9 });
    await book.limit(ann, 'SELL', 'YES', 0.8, 5);
    const stranger = await openAccount(target, { usdc: 7 });
    const paths = ['deals/open-positions', 'deals/active-orders', 'orders', 'trades'].map(
      (path) => `/api/history/${path}`,
    );
    for (const path of [...paths, `/api/history/orders?eventOutcomeId=${book.market.marketId}`]) {
      expect([path, (await read(stranger, path)).i]).toEqual([path, []]);
    }
    expect(await read(stranger, `/orders/tpsl?assetId=${book.market.yes}`)).toEqual([]);
    expect(await read(stranger, '/api/user-balances')).toEqual([{ i: book.usdc, b: 7, f: 7 }]);
    const { body } = await stranger.bearer('GET', '/api/transactions');
    expect(body.i.map(({ u, am }: { u: string; am: number }) => [u, am])).toEqual([[stranger.userId, 7]]);
    for (const account of [ann, bob]) {
      for (const path of ['orders', 'trades']) {
        const owners = (await read(account, `/api/history/${path}`)).i.map(({ u }: { u: string }) => u);
        expect(new Set(owners)).toEqual(new Set([account.userId]));
      }
    }
    expect(statusOf(await stranger.delete(`/orders/limit/${order}`))).toBe(404);
  });
});

function fail(): never {
  throw new Error('what the test needs is not there');
}
