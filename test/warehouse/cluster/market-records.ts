import type { Bus } from '../../../bus/index.js';
import { type CollectorEvent, Random, type RecordKind } from '../../../core/index.js';
import { pushAccounts } from './account-records.js';
import { RecordQueue } from './record-queue.js';

const STREAMS = ['order-book', 'chance'] as const;
const MARKETS = 3;
const SECOND = 1_000_000;

/**
 * What collectors would have put on the bus about a few events over some hours up to now: records of every kind, two
 * sessions one after the other, a gap between them that is backfilled, a stale subscription, and one of each record
 * that cannot be understood.
 */
export class MarketRecords {
  readonly #random: Random;
  readonly #queue: RecordQueue;
  readonly events: readonly string[];

  constructor(seed: number, bus: Bus, events = 8) {
    this.#queue = new RecordQueue(bus);
    this.#random = new Random(seed);
    this.events = Array.from({ length: events }, (_, i) => `e0000000-0000-4000-8000-${String(i).padStart(12, '0')}`);
  }

  /**
   * Appends everything to the bus; times in Unix seconds.
   * @param finalAt when a market of the last event has a final chance; its later frames have others
   */
  async append(from: number, to: number, finalAt?: number): Promise<void> {
    const middle = Math.floor((from + to) / 2);
    this.#session('first', from, middle - 60);
    this.#session('second', middle, to);
    this.#history(middle - 60, middle, to);
    const [event = ''] = this.events;
    this.#resolution(event, to - 30);
    if (finalAt !== undefined) this.#resolution(this.events.at(-1) ?? '', finalAt);
    pushAccounts(this.#queue, { sessionId: 'second', from: to - 600, event, markets: this.marketsOf(event) });
    this.#unreadable(to);
    this.#running(to);
    await this.#queue.flush();
  }

  /** More prices and reference data, for a test that continues. */
  async more(sessionId: string, at: number, frames: number): Promise<void> {
    for (let i = 0; i < frames; i++) this.#frame(sessionId, this.#pick(this.events), at + i / 1000);
    this.#search(sessionId, at);
    await this.#queue.flush();
  }

  marketsOf(event: string): string[] {
    return Array.from({ length: MARKETS }, (_, i) => `m${i}-${event.slice(2)}`);
  }

  #session(sessionId: string, from: number, to: number): void {
    const record = (at: number, body: CollectorEvent) =>
      this.#push('collector.event', sessionId, sessionId, at, {}, body);
    record(from, { type: 'session-started', collector: 'c', version: '1', shard: '0/1' });
    for (const stream of STREAMS) {
      const connection = `${sessionId}-${stream}`;
      record(from, { type: 'connected', stream, connectionId: connection, url: 'ws://127.0.0.1/' });
      for (const event of this.events) {
        record(from + 2, {
          type: 'subscribed',
          stream,
          connectionId: connection,
          event,
          markets: this.marketsOf(event),
        });
      }
    }
    for (let at = from; at <= to; at += 1200) {
      record(at, { type: 'heartbeat', acknowledged: {}, lastFrames: {} });
      this.#search(sessionId, at);
      for (const event of this.events) {
        for (let i = 0; i < 3; i++) this.#frame(sessionId, event, at + 10 * i + this.#random.next());
        this.#chance(sessionId, event, at + 5);
        record(at + 40, this.#audit(`${sessionId}-order-book`, event, at));
      }
    }
    const [event = ''] = this.events;
    const heartbeat = (): CollectorEvent => ({
      type: 'heartbeat',
      acknowledged: this.#queue.acknowledged(sessionId),
      lastFrames: {},
    });
    record(to - 60, heartbeat());
    for (let i = 0; i < 3; i++) this.#frame(sessionId, event, to - 55 + i);
    record(to - 50, heartbeat());
    const stale: CollectorEvent = {
      type: 'stale',
      stream: 'order-book',
      connectionId: `${sessionId}-order-book`,
      event,
      lastVerifiedAt: (to - 100) * SECOND,
      cause: 'probe differs',
    };
    record(to - 40, stale);
    for (const stream of STREAMS) {
      record(to, { type: 'disconnected', stream, connectionId: `${sessionId}-${stream}`, cause: 'reset' });
    }
    record(to, { type: 'session-stopped', cause: 'clean shutdown' });
  }

  /** A collector that has not stopped. */
  #running(at: number): void {
    const sessionId = 'running';
    const record = (body: CollectorEvent) => this.#push('collector.event', sessionId, sessionId, at, {}, body);
    record({ type: 'session-started', collector: 'running', version: '1', shard: '0/1' });
    record({ type: 'connected', stream: 'order-book', connectionId: 'running', url: 'ws://127.0.0.1/' });
    // Of an event that is not resolved.
    this.#frame(sessionId, this.events[1] ?? '', at);
    const acknowledged = this.#queue.acknowledged(sessionId);
    record({ type: 'heartbeat', acknowledged, lastFrames: { running: at * SECOND } });
  }

  /** An audit of which one market in ten differs. */
  #audit(connectionId: string, event: string, lastEqual: number): CollectorEvent {
    const [market = ''] = this.marketsOf(event);
    const [ours, theirs] = [0.5, 0.52].map((last) => ({ last, bid: last - 0.01, ask: last + 0.01 }));
    const mismatches = this.#random.next() < 0.1 && ours && theirs ? [{ market, ours, theirs }] : [];
    return {
      type: 'audited',
      stream: 'order-book',
      connectionId,
      event,
      reason: 'interval',
      lastEqualAt: lastEqual * SECOND,
      changes: 3 * MARKETS,
      compared: MARKETS,
      changed: MARKETS,
      missed: mismatches.length,
      late: 0,
      mismatches,
    };
  }

  #search(sessionId: string, at: number): void {
    const content = this.events.map((id, i) => ({
      id,
      title: `Event ${i}${this.#random.next() < 0.2 ? ', renamed' : ''}`,
      outcomes: this.marketsOf(id).map((marketId) => ({ marketId, yesId: `yes-${marketId}`, noId: `no-${marketId}` })),
      createdAt: '2026-01-02T03:04:05Z',
      volume24h: Math.round(this.#random.next() * 1000),
    }));
    const poll = `search-${sessionId}-${at}`;
    const page = { operation: 'searchEvents', method: 'POST', path: '/', status: 200, attempt: 0, poll, page: 0 };
    this.#push('reference.events', 'searchEvents', sessionId, at, page, { content, totalElements: content.length });
    const rest = (operation: string) => ({ ...page, operation, method: 'GET' });
    this.#push('reference.categories', 'categories', sessionId, at, rest('categories'), [
      { i: 'c1', n: 'Sport', s: 'sport', sc: [{ i: 'c2', n: 'Golf', s: 'golf' }] },
    ]);
    this.#push('reference.tags', 'tags', sessionId, at, rest('tags'), [
      { n: 'rain', r: Math.round(this.#random.next() * 3) },
    ]);
    this.#push('reference.coins', 'coins', sessionId, at, rest('coins'), [
      { i: 'usdc', n: 'USD Coin', ur: 1 + Math.round(this.#random.next()) / 100 },
    ]);
    const receipt: CollectorEvent = {
      type: 'poll',
      pollId: poll,
      operation: 'event-search',
      subject: 'all',
      startedAt: Math.round(at * SECOND),
      expectedItems: content.length,
      receivedItems: content.length,
      distinctItems: content.length,
      pages: 1,
      truncated: false,
      outcome: 'complete',
      cause: '',
    };
    this.#push('collector.event', sessionId, sessionId, at, {}, receipt);
  }

  #frame(sessionId: string, event: string, at: number): void {
    const d = this.marketsOf(event).map((o) => {
      const price = Math.round(5 + this.#random.next() * 90);
      return { o, c: price / 100, b: this.#random.next() < 0.1 ? 0 : (price - 1) / 100, a: (price + 1) / 100 };
    });
    const body = { t: this.#random.next() < 0.1 ? 'PRICES_DATA' : 'PRICES_DATA_DELTA', e: event, d };
    this.#push(
      'order-book.frame',
      event,
      sessionId,
      at,
      { stream: 'order-book', connection: `${sessionId}-order-book` },
      body,
    );
  }

  /** One market of the event has its final price, and an empty book. */
  #resolution(event: string, at: number): void {
    const [, market = ''] = this.marketsOf(event);
    const request = { stream: 'order-book', connection: 'second-order-book' };
    const body = { t: 'PRICES_DATA_DELTA', e: event, d: [{ o: market, c: 1, b: 0, a: 0 }] };
    this.#push('order-book.frame', event, 'second', at, request, body);
  }

  #chance(sessionId: string, event: string, at: number): void {
    for (const market of this.marketsOf(event)) {
      const d = { t: Math.floor(at), p: Math.round(this.#random.next() * 100) / 100 };
      const req = { stream: 'chance', connection: `${sessionId}-chance` };
      this.#push('chance.frame', event, sessionId, at, req, { t: 'probability', e: event, o: [market], d });
      // The last live point of the second was skipped.
      const last = { t: d.t + 1, p: 1 - d.p / 2 };
      this.#push('chance.frame', event, sessionId, at + 1, req, {
        t: 'UPDATE_HISTORY',
        e: event,
        o: [market],
        d: last,
      });
    }
  }

  /** The gap of [from, to] is fetched twice: the later response counts. */
  #history(from: number, to: number, at: number): void {
    for (const event of this.events) {
      for (const market of this.marketsOf(event)) {
        for (const again of [0, 1]) this.#answer(event, market, { from, to, at: at + again });
        const range = { rangeFrom: from * SECOND, rangeTo: to * SECOND, fetchedFrom: from * SECOND, pollId: 'history' };
        const backfill: CollectorEvent = { type: 'backfilled', stream: 'chance', event, market, ...range };
        this.#push('collector.event', 'second', 'second', at, {}, backfill);
      }
    }
  }

  #answer(event: string, market: string, { from, to, at }: { from: number; to: number; at: number }): void {
    const points = Array.from({ length: 10 }, (_, i) => ({
      t: from + i * 5,
      p: Math.round(this.#random.next() * 1e6) / 1e6,
    }));
    const asked = { operation: 'history', method: 'GET', path: '/', status: 200, attempt: 0, poll: 'history' };
    const req = { ...asked, event, market, period: '1s', from, to };
    this.#push('chance.history', event, 'second', at, req, points);
  }

  #unreadable(at: number): void {
    const [event = ''] = this.events;
    const req = { stream: 'order-book', connection: 'second-order-book' };
    this.#push('order-book.frame', event, 'second', at, req, { t: 'NEWS', e: event });
    this.#push('order-book.frame', event, 'second', at, req, { t: 'PRICES_DATA', e: event, d: [{ o: 'x', c: 7 }] });
  }

  #push(kind: RecordKind, key: string, sessionId: string, at: number, req: object, body: unknown): void {
    this.#queue.push(kind, { key, sessionId, at, req, body });
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random.next() * items.length)] as T;
  }
}
