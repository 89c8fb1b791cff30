import type { ReceivedRecord } from '../../collectors/publisher.js';
import { type Random, systemClock } from '../../core/index.js';

const EVENTS = Array.from({ length: 6 }, (_, i) => `e0000000-0000-4000-8000-00000000000${i}`);
const MARKETS = Array.from({ length: 20 }, (_, i) => `a0000000-0000-4000-8000-0000000000${10 + i}`);
const MONTH_MICROS = 30 * 86_400_000_000;
/** In one of this many seconds, receive times are spread over several months, which are table partitions. */
const SPREAD_EVERY_S = 4;
const SPREAD_MONTHS = 6;

/** More entries than fit into one record: such a frame is appended in pieces. */
const LARGE_FRAME = 60;
/** More entries than a worker needs for a batch whose materialized views are fed by a summary. */
const HUGE_FRAME = 10_500;
/** The number of the record with such a frame: one per session. */
const HUGE_RECORD = 200;
const ACCOUNTS = ['first', 'second', 'third'];

/**
 * Records of every kind that a chaos run needs, from its random numbers alone: prices, also in pieces, chances, collector events,
 * balances and trades of accounts, activity, and poison.
 */
export class RecordSource {
  readonly #req: string;
  #trade = 0;
  #records = 0;

  constructor(
    private readonly random: Random,
    private readonly sessionId: string,
    /** Whether one frame per session is huge. */
    private readonly hugeFrames = false,
  ) {
    this.#req = JSON.stringify({ stream: 'order-book', connection: sessionId });
  }

  next(): ReceivedRecord {
    const { random } = this;
    if (++this.#records === HUGE_RECORD && this.hugeFrames) return this.#frame('PRICES_DATA', HUGE_FRAME);
    const draw = random.next();
    if (draw < 0.55) return this.#frame('PRICES_DATA_DELTA', random.integer(1, 4));
    if (draw < 0.64) return this.#frame('PRICES_DATA', 10);
    if (draw < 0.65) return this.#frame('PRICES_DATA', LARGE_FRAME);
    if (draw < 0.74) return this.#chance();
    if (draw < 0.83) return this.#collectorEvent();
    if (draw < 0.87) return this.#balance();
    if (draw < 0.89) return this.#trades();
    if (draw < 0.9) return this.#activity();
    return this.#poison();
  }

  #frame(t: string, entries: number): ReceivedRecord {
    const d = Array.from({ length: entries }, () => price(this.random));
    const record = this.#orderBook(JSON.stringify({ t, e: this.random.pick(EVENTS), d }));
    if (t !== 'PRICES_DATA_DELTA' || this.random.next() > 0.1) return record;
    return { ...record, requestJson: JSON.stringify({ ...JSON.parse(this.#req), repeated: [entries - 1] }) };
  }

  #chance(): ReceivedRecord {
    const key = this.random.pick(EVENTS);
    const point = { t: 1_700_000_000 + this.random.integer(0, 1_000_000), p: this.random.integer(1, 99) / 100 };
    const bodyJson = JSON.stringify({ t: 'probability', e: key, o: [this.random.pick(MARKETS)], d: point });
    return { kind: 'chance.frame', key, receivedAt: this.#at(), requestJson: this.#req, bodyJson };
  }

  #collectorEvent(): ReceivedRecord {
    const { sessionId, random } = this;
    const about = { stream: 'order-book', connectionId: sessionId, event: random.pick(EVENTS) };
    const event = random.pick([
      { type: 'verified', ...about },
      { type: 'subscribed', ...about, markets: MARKETS },
      { ...audit(random), ...about },
    ]);
    return {
      kind: 'collector.event',
      key: sessionId,
      receivedAt: this.#at(),
      requestJson: '{}',
      bodyJson: JSON.stringify(event),
    };
  }

  #balance(): ReceivedRecord {
    const { random } = this;
    const balance = random.integer(1, 1_000_000) / 100;
    const body = { u: 'user', a: random.pick(MARKETS), aop: 0.5, c: 1, b: balance, f: random.integer(0, 99) / 100 };
    return this.#account('account.balance-frame', { stream: 'balance', connection: this.sessionId }, body);
  }

  /** A page of trades, of which one may be invalid. */
  #trades(): ReceivedRecord {
    const { random } = this;
    const trades = Array.from({ length: random.integer(1, 5) }, () => {
      const market = random.pick(MARKETS);
      return {
        i: `${this.sessionId}-${++this.#trade}`,
        // Two sides of some fills are ours.
        t: `${market}-${random.integer(1, 1000)}`,
        s: random.next() < 0.7 ? 'BUY' : 'SELL',
        o: market,
        a: `${market}-yes`,
        q: random.next() < 0.1 ? 'many' : random.integer(1, 1_000_000) / 100,
        p: random.integer(1, 99) / 100,
        m: this.#daysAgo(),
      };
    });
    const req = { operation: 'trades', status: 200, poll: this.sessionId, page: 0 };
    return this.#account('account.trades', req, trades);
  }

  /** A page of the activity feed. */
  #activity(): ReceivedRecord {
    const { random } = this;
    const items = Array.from({ length: random.integer(1, 20) }, () => ({
      tra: `${this.sessionId}-${++this.#trade}`,
      u: 'user',
      oi: random.pick(MARKETS),
      p: 'YES',
      si: 'BUY',
      q: random.integer(1, 1_000_000) / 100,
      pr: random.integer(1, 99) / 100,
      x: this.#daysAgo(),
    }));
    const req = { operation: 'activity', status: 200, poll: this.sessionId, page: 0 };
    return this.#account('account.activity', req, items, 'feed');
  }

  /** A time of one of the last days. */
  #daysAgo(): string {
    const now = systemClock.nowMicros() / 1000;
    return new Date(Math.floor(now) - this.random.integer(0, 5 * 86_400_000)).toISOString();
  }

  #account(
    kind: 'account.balance-frame' | 'account.trades' | 'account.activity',
    req: object,
    body: unknown,
    account = this.random.pick(ACCOUNTS),
  ): ReceivedRecord {
    const reqJson = JSON.stringify({ ...req, account });
    return { kind, key: account, receivedAt: this.#at(), requestJson: reqJson, bodyJson: JSON.stringify(body) };
  }

  /** Invalid records: an unknown type, one invalid entry among valid ones, no JSON, half an envelope. */
  #poison(): ReceivedRecord {
    const { random } = this;
    const draw = random.next();
    if (draw < 0.3) return this.#orderBook(JSON.stringify({ t: 'STRANGE', e: random.pick(EVENTS) }));
    if (draw < 0.6) {
      const d = [price(random), { o: random.pick(MARKETS), c: 'half', b: 0.1, a: 0.2 }, price(random)];
      return this.#orderBook(JSON.stringify({ t: 'PRICES_DATA_DELTA', e: random.pick(EVENTS), d }));
    }
    if (draw < 0.9) return { ...this.#orderBook(JSON.stringify('no { JSON')), encoding: 'text' };
    return this.#orderBook('{"t":"PRICES_DATA');
  }

  #orderBook(bodyJson: string): ReceivedRecord {
    const key = this.random.pick(EVENTS);
    return { kind: 'order-book.frame', key, receivedAt: this.#at(), requestJson: this.#req, bodyJson };
  }

  #at(): number {
    const now = systemClock.nowMicros();
    if (Math.floor(now / 1e6) % SPREAD_EVERY_S > 0) return now;
    return now - this.random.integer(0, SPREAD_MONTHS - 1) * MONTH_MICROS;
  }
}

function audit(random: Random) {
  const prices = (last: number) => ({ last, bid: 0, ask: 0.99 });
  const mismatches = random.shuffled(MARKETS).slice(0, random.integer(0, 2));
  return {
    type: 'audited',
    reason: 'interval',
    lastEqualAt: systemClock.nowMicros(),
    changes: random.integer(0, 100),
    compared: MARKETS.length,
    changed: mismatches.length,
    missed: mismatches.length,
    late: 0,
    mismatches: mismatches.map((market) => ({ market, ours: prices(0.5), theirs: prices(0.6) })),
  };
}

function price(random: Random): { o: string; c: number; b: number; a: number } {
  const last = random.integer(1, 99);
  return { o: random.pick(MARKETS), c: last / 100, b: (last - 1) / 100, a: (last + 1) / 100 };
}
