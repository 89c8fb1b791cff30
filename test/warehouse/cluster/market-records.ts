import type { Bus } from '../../../bus/index.js';
import { encodeEnvelope, type Mark, RECORD_KINDS, type RecordKind } from '../../../core/index.js';
import { randomFrom } from '../../support/random.js';

const STREAMS = ['order-book', 'chance'] as const;
const MARKETS = 3;
const SECOND = 1_000_000;

/**
 * What collectors would have put on the bus about a few events over some hours up to now: records of every kind, two
 * sessions one after the other, a gap between them that history repairs, a frozen subscription, and one of each record
 * that cannot be understood.
 */
export class MarketRecords {
  readonly #random: () => number;
  readonly #counts = new Map<string, number>();
  readonly events: readonly string[];
  #queue: { topic: string; key: string; value: Buffer }[] = [];

  constructor(
    seed: number,
    private readonly bus: Bus,
    events = 8,
  ) {
    this.#random = randomFrom(seed);
    this.events = Array.from({ length: events }, (_, i) => `e0000000-0000-4000-8000-${String(i).padStart(12, '0')}`);
  }

  /** Puts everything on the bus; `from` and `to` in Unix seconds. */
  async append(from: number, to: number): Promise<void> {
    const middle = Math.floor((from + to) / 2);
    this.#session('first', from, middle - 60);
    this.#session('second', middle, to);
    this.#history(middle - 60, middle, to);
    for (const account of ['alice', 'bob', 'carol']) this.#account(account, to - 600);
    this.#unreadable(to);
    await this.flush();
  }

  /** Some more prices and reference data, for a test that goes on. */
  async more(sid: string, at: number, frames: number): Promise<void> {
    for (let i = 0; i < frames; i++) this.#frame(sid, this.#pick(this.events), at + i / 1000);
    this.#search(sid, at);
    await this.flush();
  }

  async flush(): Promise<void> {
    const queue = this.#queue;
    this.#queue = [];
    for (const topic of new Set(queue.map((record) => record.topic))) {
      await this.bus.append(
        topic,
        queue.filter((record) => record.topic === topic),
      );
    }
  }

  marketsOf(event: string): string[] {
    return Array.from({ length: MARKETS }, (_, i) => `m${i}-${event.slice(2)}`);
  }

  #session(sid: string, from: number, to: number): void {
    const mark = (at: number, body: Mark) => this.#push('mark', sid, sid, at, {}, body);
    mark(from, { type: 'session-started', collector: 'c', version: '1', shard: '0/1' });
    for (const stream of STREAMS) {
      const connection = `${sid}-${stream}`;
      mark(from, { type: 'connected', stream, connection, url: 'ws://127.0.0.1/' });
      for (const event of this.events) {
        mark(from + 2, { type: 'subscribed', stream, connection, event, markets: this.marketsOf(event) });
      }
    }
    for (let at = from; at <= to; at += 1200) {
      mark(at, { type: 'alive', acked: {} });
      this.#search(sid, at);
      for (const event of this.events) {
        for (let i = 0; i < 3; i++) this.#frame(sid, event, at + 10 * i + this.#random());
        this.#chance(sid, event, at + 5);
      }
    }
    const [event = ''] = this.events;
    const frozen: Mark = {
      type: 'frozen',
      stream: 'order-book',
      connection: `${sid}-order-book`,
      event,
      since: (to - 100) * SECOND,
      cause: 'probe differs',
    };
    mark(to - 40, frozen);
    for (const stream of STREAMS) {
      mark(to, { type: 'disconnected', stream, connection: `${sid}-${stream}`, cause: 'reset' });
    }
    mark(to, { type: 'session-stopped', cause: 'asked to' });
  }

  #search(sid: string, at: number): void {
    const content = this.events.map((id, i) => ({
      id,
      title: `Event ${i}${this.#random() < 0.2 ? ', renamed' : ''}`,
      outcomes: this.marketsOf(id).map((marketId) => ({ marketId, yesId: `yes-${marketId}`, noId: `no-${marketId}` })),
      createdAt: '2026-01-02T03:04:05Z',
      volume24h: Math.round(this.#random() * 1000),
    }));
    const poll = `search-${sid}-${at}`;
    const page = { operation: 'searchEvents', method: 'POST', path: '/', status: 200, attempt: 0, poll, page: 0 };
    this.#push('reference.events', 'searchEvents', sid, at, page, { content, totalElements: content.length });
    const rest = (operation: string) => ({ ...page, operation, method: 'GET' });
    this.#push('reference.categories', 'categories', sid, at, rest('categories'), [
      { i: 'c1', n: 'Sport', s: 'sport', sc: [{ i: 'c2', n: 'Golf', s: 'golf' }] },
    ]);
    this.#push('reference.tags', 'tags', sid, at, rest('tags'), [{ n: 'rain', r: Math.round(this.#random() * 3) }]);
    this.#push('reference.coins', 'coins', sid, at, rest('coins'), [
      { id: 'usdc', name: 'USD Coin', usdRate: 1 + Math.round(this.#random()) / 100 },
    ]);
    const receipt: Mark = {
      type: 'poll',
      poll,
      operation: 'event-search',
      subject: 'all',
      startedAt: Math.round(at * SECOND),
      expected: content.length,
      got: content.length,
      unique: content.length,
      pages: 1,
      truncated: false,
      outcome: 'complete',
      cause: '',
    };
    this.#push('mark', sid, sid, at, {}, receipt);
  }

  #frame(sid: string, event: string, at: number): void {
    const d = this.marketsOf(event).map((o) => {
      const price = Math.round(5 + this.#random() * 90);
      return { o, c: price / 100, b: this.#random() < 0.1 ? 0 : (price - 1) / 100, a: (price + 1) / 100 };
    });
    const body = { t: this.#random() < 0.1 ? 'PRICES_DATA' : 'PRICES_DATA_DELTA', e: event, d };
    this.#push('order-book.frame', event, sid, at, { stream: 'order-book', connection: `${sid}-order-book` }, body);
  }

  #chance(sid: string, event: string, at: number): void {
    for (const market of this.marketsOf(event)) {
      const d = { t: Math.floor(at), p: Math.round(this.#random() * 100) / 100 };
      const body = { t: 'probability', e: event, o: [market], d };
      this.#push('chance.frame', event, sid, at, { stream: 'chance', connection: `${sid}-chance` }, body);
    }
  }

  /** The gap of [from, to] is fetched, twice: the later answer counts. */
  #history(from: number, to: number, at: number): void {
    for (const event of this.events) {
      for (const market of this.marketsOf(event)) {
        for (const again of [0, 1]) this.#answer(event, market, { from, to, at: at + again });
        const repaired = { from: from * SECOND, to: to * SECOND, poll: 'history' };
        const mark: Mark = { type: 'repaired', stream: 'chance', event, market, ...repaired };
        this.#push('mark', 'second', 'second', at, {}, mark);
      }
    }
  }

  #answer(event: string, market: string, { from, to, at }: { from: number; to: number; at: number }): void {
    const points = Array.from({ length: 10 }, (_, i) => ({
      t: from + i * 5,
      p: Math.round(this.#random() * 1e6) / 1e6,
    }));
    const asked = { operation: 'history', method: 'GET', path: '/', status: 200, attempt: 0, poll: 'history' };
    const req = { ...asked, event, market, period: '1s', from, to };
    this.#push('chance.history', event, 'second', at, req, points);
  }

  /** Two polls of every list of an account, the second a minute later and a little different. */
  #account(account: string, from: number): void {
    const [event = ''] = this.events;
    const [market = ''] = this.marketsOf(event);
    const asset = `yes-${market}`;
    for (const [i, at] of [from, from + 60].entries()) {
      const answer = (kind: RecordKind, operation: string, body: unknown) => {
        const poll = `${operation}-${account}-${i}`;
        const req = { operation, method: 'GET', path: '/', status: 200, attempt: 0, poll, page: 0, account };
        this.#push(kind, account, 'second', at, req, body);
        const receipt: Mark = {
          ...{ type: 'poll', poll, operation, subject: account, startedAt: at * SECOND, cause: '' },
          ...{ expected: 2, got: 2, unique: 2, pages: 1, truncated: false, outcome: 'complete' },
        };
        this.#push('mark', 'second', 'second', at + 1, {}, receipt);
      };
      const id = (name: string) => `${name}-${account}`;
      const trade = (n: number) => ({
        ...{ i: id(`r${n}`), t: id(`t${n}`), u: account, or: id('o1'), s: n % 2 ? 'BUY' : 'SELL', e: event, o: market },
        ...{ a: asset, q: 10 + n, p: 0.4 + n / 100, f: 0.01, m: new Date((from - n) * 1000).toISOString() },
      });
      answer('account.trades', 'trades', { i: [1, 2, 3].map(trade), p: 0, s: 100, tp: 1 });
      const order = { i: id('o1'), si: 'BUY', t: 'LIMIT', p: 0.41, oq: 30, q: 10 + i, st: i ? 'FILLED' : 'ACTIVE' };
      answer('account.orders', 'orders', { i: [{ ...order, e: event, o: market, a: asset }] });
      const position = { ai: asset, ei: event, eoi: market, tsc: 11 + i, c: 5.25, v: 5.5, pv: 0.25 };
      answer('account.positions', 'open-positions', { i: [position] });
      answer('account.active-orders', 'active-orders', {
        i: [{ id: id('o2'), status: 'ACTIVE', price: 0.4, quantity: 7 + i }],
      });
      answer('account.balances', 'balances', [
        { i: 'usdc', b: 1000 - i, f: 900 },
        { i: asset, b: 11 + i },
      ]);
      answer('account.transactions', 'transactions', {
        i: [{ i: id('x1'), t: 'PAYOUT', a: asset, am: 1, st: 'COMPLETED', cat: '2026-01-02' }],
      });
    }
  }

  #unreadable(at: number): void {
    const [event = ''] = this.events;
    const req = { stream: 'order-book', connection: 'second-order-book' };
    this.#push('order-book.frame', event, 'second', at, req, { t: 'NEWS', e: event });
    this.#push('order-book.frame', event, 'second', at, req, { t: 'PRICES_DATA', e: event, d: [{ o: 'x', c: 7 }] });
  }

  #push(kind: RecordKind, key: string, sid: string, at: number, req: object, body: unknown): void {
    const topic = RECORD_KINDS[kind];
    const place = `${topic}/${sid}`;
    const n = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, n);
    const reqJson = JSON.stringify(req);
    const bodyJson = JSON.stringify(body);
    const value = encodeEnvelope({ kind, sid, n, at: Math.round(at * SECOND), reqJson, bodyJson });
    this.#queue.push({ topic, key, value: Buffer.from(value) });
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }
}
