import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AccountClient,
  type AccountListResult,
  type HistoryWalkOptions,
  type HistoryWalkReport,
  type LosslessResponse,
  parseLossless,
  type TradeRecord,
  type WalkOptions,
  type WalkReport,
} from '../../client/index.js';
import type { AccountOperation } from '../../client/rest/account/operation.js';
import { describeResponse } from '../../client/rest/raw-response.js';
import { Secret } from '../../core/index.js';
import { script } from './support.js';
import { apiKey, exchangeOf, failure } from './support-account.js';

type Wrapper = 'array' | 'tp' | 't' | 'content';
const WRAPPERS: readonly Wrapper[] = ['array', 'tp', 't', 'content'];

const trade = (n: number) => ({ i: `r${n}`, q: 1, p: 0.5 });
const ids = (from: number, to: number) => Array.from({ length: from - to }, (_, n) => `r${from - 1 - n}`);

function wrap(kind: Wrapper, list: readonly unknown[], page: number, size: number): unknown {
  const items = list.slice(page * size, (page + 1) * size);
  const pages = Math.ceil(list.length / size);
  if (kind === 'array') return items;
  if (kind === 'tp') return { i: items, p: page, s: size, tp: pages };
  if (kind === 't') return { i: items, p: page, s: size, t: list.length };
  return { content: items, totalElements: list.length, totalPages: pages };
}

interface Server {
  readonly account: AccountClient;
  readonly asked: number[];
  /** What is done before request n is answered. */
  before: (n: number, page: number) => void;
  /** A body, or the status of a refusal. */
  answer: (page: number, size: number) => unknown;
}

const quietServer = (account: AccountClient): Server => ({
  account,
  asked: [],
  before: () => undefined,
  answer: () => [],
});

function answerOf(it: Server, page: number, size: number): unknown {
  it.before(it.asked.length, page);
  it.asked.push(page);
  return it.answer(page, size);
}

async function server(): Promise<Server> {
  const { base } = await script((response, request) => {
    const query = new URL(request.url, 'http://x').searchParams;
    const answer = answerOf(it, Number(query.get('page')), Number(query.get('size')));
    if (typeof answer === 'number') response.writeHead(answer).end('{}');
    else response.end(JSON.stringify(answer));
  });
  const it = quietServer(new AccountClient(exchangeOf(base), { apiKey }));
  return it;
}

/** The same without sockets, for properties, whose runs request tens of thousands of pages. */
function serverWithoutSockets(): Server {
  const it = quietServer(new LocalAccount((page, size) => answerOf(it, page, size)));
  return it;
}

class LocalAccount extends AccountClient {
  constructor(private readonly answer: Server['answer']) {
    super(exchangeOf('http://127.0.0.1:1'), { apiKey });
  }

  override async request<P, T>(operation: AccountOperation<P, T>, params: P): Promise<LosslessResponse> {
    const call = operation.buildRequest(params);
    const bytes = Buffer.from(JSON.stringify(this.answer(Number(call.query?.['page']), Number(call.query?.['size']))));
    const received = { status: 200, headers: {}, receivedAtMicros: 0, bytes };
    return { ...describeResponse(operation, call, received, 0), lossless: parseLossless(bytes.toString()) };
  }
}

/** A list that grows in front, newest first, behind a server that cuts pages to `most`. */
function growing(it: Server, kind: Wrapper, count: number, most: number) {
  const list = Array.from({ length: count }, (_, n) => trade(count - 1 - n));
  it.asked.length = 0;
  it.answer = (page, size) => wrap(kind, list, page, Math.min(size, most));
  return {
    list,
    add: (more: number) => {
      for (let n = 0; n < more; n++) list.unshift(trade(list.length));
    },
  };
}

async function walk(it: Server, options: HistoryWalkOptions<TradeRecord> = {}) {
  const pages = it.account.walkTrades({}, { pageSize: 10, ...options });
  const got: string[] = [];
  for await (const page of pages) got.push(...page.items.map((item) => item.tradeRecordId));
  return { got, report: pages.report };
}

const whole: Partial<HistoryWalkReport> = {
  invalid: 0,
  truncated: false,
  complete: true,
  cause: '',
  reachedKnown: false,
};

describe('walking a history', () => {
  it.each(WRAPPERS)(
    'reads every item once in the order of the pages, and requests no superfluous page (%s)',
    async (kind) => {
      const it = await server();
      growing(it, kind, 25, 100);
      const { got, report } = await walk(it);
      expect(got).toEqual(ids(25, 0));
      // Without a total only an empty page shows the end.
      expect(it.asked).toEqual(kind === 'array' ? [0, 1, 2, 3] : [0, 1, 2]);
      expect(report).toMatchObject({
        ...whole,
        receivedItems: 25,
        distinctItems: 25,
        shifted: false,
        pages: it.asked.length,
      });
      expect(report.expectedItems).toBe(kind === 't' || kind === 'content' ? 25 : null);
    },
  );

  it.each(WRAPPERS)('reads an empty history (%s)', async (kind) => {
    const it = await server();
    growing(it, kind, 0, 100);
    const { got, report } = await walk(it);
    expect([got, it.asked]).toEqual([[], [0]]);
    expect(report).toMatchObject({ ...whole, distinctItems: 0, pages: 1 });
  });

  it('yields items that appeared during the walk after the others, and reports that the list changed', async () => {
    const it = await server();
    const { add } = growing(it, 'tp', 25, 100);
    it.before = (n) => (n === 1 ? add(3) : undefined);
    const { got, report } = await walk(it);
    expect(got).toEqual([...ids(25, 0), ...ids(28, 25)]);
    expect(it.asked).toEqual([0, 1, 2, 0]);
    expect(report).toMatchObject({ ...whole, receivedItems: 38, distinctItems: 28, shifted: true });
  });

  it('is complete when more items appear between two pages than fit on one', async () => {
    const it = await server();
    const { add } = growing(it, 'array', 6, 3);
    it.before = (n) => (n === 1 ? add(10) : n === 5 ? add(7) : undefined);
    const { got, report } = await walk(it);
    expect([...got].sort()).toEqual(ids(23, 0).sort());
    expect(report).toMatchObject({ ...whole, distinctItems: 23, shifted: true });
  });

  it('yields every item once, whenever new items appear, with every wrapper and page size', async () => {
    const it = serverWithoutSockets();
    const arrivals = fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat({ max: 12 })), {
      maxLength: 40,
    });
    const setup = fc.record({
      kind: fc.constantFrom(...WRAPPERS),
      count: fc.nat({ max: 30 }),
      most: fc.integer({ min: 1, max: 7 }),
      arrivals,
    });
    await fc.assert(
      fc.asyncProperty(setup, async ({ kind, count, most, arrivals: bursts }) => {
        const { list, add } = growing(it, kind, count, most);
        let atLastFront = count;
        it.before = (n, page) => {
          add(bursts[n] ?? 0);
          if (page === 0) atLastFront = list.length;
        };
        const { got, report } = await walk(it);
        expect(new Set(got).size).toBe(got.length);
        const there = new Set(got);
        expect(ids(atLastFront, 0).filter((id) => !there.has(id))).toEqual([]);
        expect(report).toMatchObject({ ...whole, distinctItems: got.length });
      }),
      { numRuns: 150 },
    );
  });

  it('stops at records that the caller has, without missing new ones', async () => {
    const it = serverWithoutSockets();
    const setup = fc.record({
      kind: fc.constantFrom(...WRAPPERS),
      held: fc.integer({ min: 1, max: 20 }),
      fresh: fc.nat({ max: 15 }),
      most: fc.integer({ min: 1, max: 5 }),
      bursts: fc.array(fc.nat({ max: 6 }), { maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(setup, async ({ kind, held, fresh, most, bursts }) => {
        const { list, add } = growing(it, kind, held + fresh, most);
        let atLastFront = 0;
        it.before = (n, page) => {
          add(bursts[n] ?? 0);
          if (page === 0) atLastFront = list.length;
        };
        const known = new Set(ids(held, 0));
        const { got, report } = await walk(it, { isKnown: (item) => known.has(item.tradeRecordId) });
        expect(new Set(got).size).toBe(got.length);
        expect(got.filter((id) => known.has(id))).toEqual([]);
        const there = new Set(got);
        expect(ids(atLastFront, held).filter((id) => !there.has(id))).toEqual([]);
        expect(report).toMatchObject({ complete: true, reachedKnown: true, truncated: false });
      }),
      { numRuns: 100 },
    );
  });

  it('requests one page when there is nothing new', async () => {
    const it = await server();
    growing(it, 'tp', 100, 100);
    const { got, report } = await walk(it, { isKnown: () => true });
    expect([got, it.asked]).toEqual([[], [0]]);
    expect(report).toMatchObject({ complete: true, reachedKnown: true });
  });

  it('ends at an exchange that ignores the page number, or repeats the last page', async () => {
    const it = await server();
    it.answer = () => [trade(2), trade(1)];
    const same = await walk(it);
    expect(same.got).toEqual(['r2', 'r1']);
    expect(it.asked).toEqual([0, 1, 1_000_000, 0]);
    expect(same.report).toMatchObject({ ...whole, distinctItems: 2 });
    it.asked.length = 0;
    it.answer = (page) => [trade(9 - Math.min(page, 3))];
    const clamped = await walk(it);
    expect(clamped.got).toEqual(['r9', 'r8', 'r7', 'r6']);
    expect(clamped.report).toMatchObject({ ...whole, distinctItems: 4 });
  });

  it.each([400, 404])(
    'takes a %d for a page beyond the end as a sign that the exchange supports pages',
    async (status) => {
      const it = await server();
      const { list, add } = growing(it, 'array', 4, 1);
      it.before = (n) => (n === 1 ? add(1) : undefined);
      it.answer = (page) => (page >= list.length ? (page > 1000 ? status : []) : [list[page]]);
      const { got, report } = await walk(it);
      expect([...got].sort()).toEqual(ids(5, 0).sort());
      expect(report).toMatchObject({ ...whole, shifted: true });
    },
  );

  it('rejects with any other failure, and reports that it is incomplete', async () => {
    const it = await server();
    growing(it, 'tp', 30, 100);
    const answer = it.answer;
    it.answer = (page, size) => (page === 1 ? 403 : answer(page, size));
    const pages = it.account.walkTrades({}, { pageSize: 10 });
    const reading = async () => {
      for await (const _ of pages);
    };
    expect(await failure(reading())).toMatchObject({ status: 403 });
    expect(pages.report).toMatchObject({ complete: false, truncated: true, distinctItems: 10 });
  });

  it('reports that it was ended by its limit or its reader, and that entries were invalid', async () => {
    const it = await server();
    growing(it, 'tp', 30, 100);
    expect((await walk(it, { maxPages: 2 })).report).toMatchObject({
      truncated: true,
      complete: false,
      cause: 'the walk ended before the last page',
    });
    const pages = it.account.walkTrades({}, { pageSize: 10 });
    for await (const _ of pages) break;
    expect(pages.report).toMatchObject({ pages: 1, truncated: true, complete: false });
    it.answer = () => ({ i: [trade(1), { q: 1 }], p: 0, s: 10, t: 2 });
    expect((await walk(it)).report).toMatchObject({
      invalid: 1,
      complete: false,
      cause: '1 entries could not be understood',
    });
  });

  it('notices a total that the pages do not hold', async () => {
    const it = await server();
    it.answer = (page) => ({ i: page === 0 ? [trade(1)] : [], p: page, s: 10, t: 5 });
    expect((await walk(it)).report).toMatchObject({
      complete: false,
      cause: '1 items were read where the exchange says 5',
    });
  });

  it('can be iterated once, and refuses isKnown for the oldest first', async () => {
    const it = await server();
    const pages = it.account.walkTrades();
    for await (const _ of pages);
    const again = async () => {
      for await (const _ of pages);
    };
    expect(((await failure(again())) as Error).message).toBe('a history walk can be iterated once; start another');
    expect(() => it.account.walkOrders({ sort: 'asc' }, { isKnown: () => true })).toThrow(
      'isKnown needs the newest order first',
    );
  });

  it('walks orders, trades, activity and transactions with their parameters [4.3/transactions 4.4/orders]', async () => {
    const urls: string[] = [];
    const { base } = await script((response, request) => {
      urls.push(request.url);
      response.end('{"i":[],"p":0,"s":5,"tp":0}');
    });
    const account = new AccountClient(exchangeOf(base), { apiKey, jwt: new Secret('a.b.c') });
    const all: AsyncIterable<AccountListResult<unknown>>[] = [
      account.walkOrders({ marketId: 'm1', sort: 'asc' }, { pageSize: 5 }),
      account.walkTrades({ marketId: 'm1' }, { pageSize: 5 }),
      account.walkActivity({ pageSize: 5 }),
      account.walkTransactions({ pageSize: 5 }),
    ];
    for (const pages of all) for await (const _ of pages);
    expect(urls).toEqual([
      '/api/history/orders?page=0&size=5&eventOutcomeId=m1&sort=asc',
      '/api/history/trades?page=0&size=5&eventOutcomeId=m1',
      '/api/history/activity?page=0&size=5',
      '/api/transactions?page=0&size=5',
    ]);
  });
});

describe('walking lists of current items', () => {
  const order = (n: number) => ({ id: `o${n}`, quantity: 1 });

  async function walkOrders(it: Server, options: WalkOptions = {}): Promise<{ got: string[]; report: WalkReport }> {
    const pages = it.account.walkActiveOrders({ pageSize: 10, ...options });
    const got: string[] = [];
    for await (const page of pages) got.push(...page.items.map((item) => item.orderId));
    return { got, report: pages.report };
  }

  it('takes one request when one page holds everything', async () => {
    const it = await server();
    it.answer = () => ({ i: [order(1), order(2)], p: 0, s: 10, tp: 1 });
    const { got, report } = await walkOrders(it);
    expect([got, it.asked]).toEqual([['o1', 'o2'], [0]]);
    expect(report).toMatchObject({ complete: true, pages: 1 });
  });

  it('reads all pages but the last again, and is complete when they are the same', async () => {
    const it = await server();
    const list = Array.from({ length: 25 }, (_, n) => order(n));
    it.answer = (page, size) => wrap('tp', list, page, size);
    const { got, report } = await walkOrders(it);
    expect(got.length).toBe(25);
    expect(it.asked).toEqual([0, 1, 2, 0, 1]);
    expect(report).toMatchObject({ complete: true, shifted: false, pages: 3 });
  });

  /** For a moment page 1 has the items of page 0, and no total is given. */
  const pushedAndBack = (count: number) => ({
    kind: 'array' as const,
    count,
    most: 1,
    changes: [
      ['none', 0],
      ['add', 0],
      ['remove', 0],
    ] as ['none' | 'add' | 'remove', number][],
  });

  it('is never complete when an order that was there all the time was missed', async () => {
    const it = serverWithoutSockets();
    const setup = fc.record({
      kind: fc.constantFrom(...WRAPPERS),
      count: fc.nat({ max: 30 }),
      most: fc.integer({ min: 1, max: 7 }),
      changes: fc.array(fc.tuple(fc.constantFrom('none', 'none', 'add', 'remove'), fc.nat({ max: 29 })), {
        maxLength: 30,
      }),
    });
    let complete = 0;
    let moved = 0;
    await fc.assert(
      fc.asyncProperty(setup, async ({ kind, count, most, changes }) => {
        const list = Array.from({ length: count }, (_, n) => order(n));
        const always = new Set(list.map(({ id }) => id));
        let next = count;
        it.asked.length = 0;
        it.before = (n) => {
          const [what, place] = changes[n] ?? ['none', 0];
          if (what === 'add') list.unshift(order(next++));
          if (what === 'remove') for (const gone of list.splice(place, 1)) always.delete(gone.id);
        };
        it.answer = (page, size) => wrap(kind, list, page, Math.min(size, most));
        const { got, report } = await walkOrders(it);
        if (!report.complete) {
          moved += 1;
          expect(report.cause).not.toBe('');
          return;
        }
        complete += 1;
        const there = new Set(got);
        expect(there.size).toBe(got.length);
        expect([...always].filter((id) => !there.has(id))).toEqual([]);
      }),
      { numRuns: 200, examples: [[pushedAndBack(1)], [pushedAndBack(2)]] },
    );
    expect(complete).toBeGreaterThan(10);
    expect(moved).toBeGreaterThan(10);
  });

  it('is not complete when its reader left before the pages were compared', async () => {
    const it = await server();
    it.answer = (page) => ({ i: [order(page)], p: page, s: 1, tp: 2 });
    const pages = it.account.walkActiveOrders();
    let read = 0;
    for await (const _ of pages) if (++read === 2) break;
    expect(pages.report).toMatchObject({ complete: false, cause: 'the walk ended before the pages were compared' });
  });

  it('distinguishes open positions by asset and order', async () => {
    const it = await server();
    it.answer = () => ({
      i: [
        { ai: 'a1', oi: 'o1', tsc: 1 },
        { ai: 'a1', oi: 'o2', tsc: 1 },
      ],
      p: 0,
      s: 100,
      tp: 1,
    });
    const pages = it.account.walkOpenPositions();
    for await (const _ of pages);
    expect(pages.report).toMatchObject({ distinctItems: 2, complete: true });
  });
});
