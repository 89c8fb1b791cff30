import { type Audit, Subscription } from '../../collectors/streams/subscription.js';
import { type AuditReason, Random } from '../../core/index.js';

const EVENTS = 4;
const MARKETS = ['m0', 'm1', 'm2', 'm3', 'm4'];
const HOUR_S = 3600;
/** As in production: between audits, until a suspicion, and until an unequal audit ends. */
const AUDIT_S = 30;
const SUSPICION_S = 2;
const GRACE_S = 1.5;

export interface AuditedRun {
  /** Start of its hour, as ClickHouse shows it. */
  readonly beginsAt: string;
  /** Probability with which each change is lost. */
  readonly lossRate: number;
  /** Rows of `audits`. */
  readonly rows: readonly AuditRow[];
}

type AuditRow = {
  readonly audited_at: string;
  readonly last_equal_at: string;
  readonly stream: string;
  readonly event: string;
  readonly reason: AuditReason;
  readonly changes: number;
  readonly compared: number;
  readonly changed: number;
  readonly missed: number;
  readonly late: number;
  readonly mismatches: number;
};

/** A market of the exchange. */
interface Market {
  readonly id: string;
  /** Last price, best bid and best ask, in cents. */
  readonly prices: [number, number, number];
  nextChangeAt: number;
  /** Last price that was received. */
  received: number;
  /** Since when it has not been that of the exchange; infinite while it is. */
  differentSince: number;
}

/**
 * An hour of an order book stream that loses each change with the same probability, independently, and the audits that a
 * collector makes of it: at intervals, and when the last price differs from the exchange's for 2 s.
 * @param beginsAtMs Unix milliseconds
 */
export function simulateRun(seed: number, beginsAtMs: number): AuditedRun {
  const random = new Random(seed, 'lossy stream');
  // From 0.5 to 10 %, each order of magnitude as often.
  const lossRate = 0.005 * 20 ** random.next();
  const meanIntervalS = 4 + 12 * random.next();
  const rows: AuditRow[] = [];
  for (let event = 0; event < EVENTS; event++) {
    const simulated = new SimulatedEvent(random, lossRate, meanIntervalS);
    for (const audit of simulated.run()) rows.push(rowOf(`event ${event}`, audit, beginsAtMs));
  }
  return { beginsAt: new Date(beginsAtMs).toISOString().replace('T', ' ').replace('Z', '000'), lossRate, rows };
}

class SimulatedEvent {
  readonly #subscription = new Subscription('event', MARKETS, 0);
  readonly #markets: readonly Market[];
  readonly #audits: Audit[] = [];

  constructor(
    private readonly random: Random,
    private readonly lossRate: number,
    private readonly meanIntervalS: number,
  ) {
    this.#markets = MARKETS.map((id) => ({
      id,
      prices: [50, 49, 51],
      nextChangeAt: random.exponential(meanIntervalS),
      received: 50,
      differentSince: Number.POSITIVE_INFINITY,
    }));
    this.#subscription.confirm(this.#state(), 0);
  }

  run(): readonly Audit[] {
    for (let auditAt = AUDIT_S; ; ) {
      const market = this.#markets.reduce((a, b) => (a.nextChangeAt <= b.nextChangeAt ? a : b));
      const suspect = this.#markets.reduce((a, b) => (a.differentSince <= b.differentSince ? a : b));
      const { pending } = this.#subscription;
      const graceEnds = pending ? pending.at / 1e6 + GRACE_S : Number.POSITIVE_INFINITY;
      // While an audit is pending, the next one waits.
      const next = pending ? Number.POSITIVE_INFINITY : auditAt;
      const suspicion = pending ? Number.POSITIVE_INFINITY : suspect.differentSince + SUSPICION_S;
      const now = Math.min(market.nextChangeAt, graceEnds, next, suspicion);
      if (now >= HOUR_S) return this.#audits;
      if (now === market.nextChangeAt) this.#change(market, now);
      else if (now === graceEnds) this.#diverge(now);
      else if (now === next) {
        this.#audit('interval', now);
        auditAt = now + AUDIT_S;
      } else {
        this.#audit('difference', now);
        for (const one of this.#markets) one.differentSince = Number.POSITIVE_INFINITY;
      }
    }
  }

  #state(): Map<string, string> {
    return new Map(this.#markets.map(({ id, prices }) => [id, prices.join(' ')]));
  }

  /** One price of the market changes by a cent; the message is received or lost. */
  #change(market: Market, now: number): void {
    const { random } = this;
    const side = random.integer(0, 2);
    const price = market.prices[side] ?? 50;
    market.prices[side] = price + (price <= 1 ? 1 : price >= 99 ? -1 : random.pick([-1, 1]));
    market.nextChangeAt = now + random.exponential(this.meanIntervalS);
    if (random.next() >= this.lossRate) {
      this.#subscription.change(market.id, market.prices.join(' '), now * 1e6);
      if (this.#subscription.pending?.unequal.size === 0) this.#finish();
      market.received = market.prices[0];
    }
    if (market.received === market.prices[0]) market.differentSince = Number.POSITIVE_INFINITY;
    else market.differentSince = Math.min(market.differentSince, now);
  }

  #audit(reason: AuditReason, now: number): void {
    const audit = this.#subscription.compare(this.#state(), now * 1e6, reason);
    for (const market of this.#markets) market.received = market.prices[0];
    if (!this.#subscription.pending) this.#audits.push(audit);
  }

  /** The event is subscribed again. */
  #diverge(now: number): void {
    this.#finish();
    this.#subscription.request(now * 1e6);
    this.#subscription.confirm(this.#state(), now * 1e6);
    for (const market of this.#markets) {
      market.received = market.prices[0];
      market.differentSince = Number.POSITIVE_INFINITY;
    }
  }

  #finish(): void {
    const audit = this.#subscription.finishAudit();
    if (audit) this.#audits.push(audit);
  }
}

function rowOf(event: string, audit: Audit, beginsAtMs: number): AuditRow {
  const { at, lastEqualAt, reason, changes, compared, changed, missed, late, unequal } = audit;
  const timeOf = (micros: number) => new Date(beginsAtMs + micros / 1000).toISOString().replace('Z', '');
  return {
    audited_at: timeOf(at),
    last_equal_at: timeOf(lastEqualAt),
    stream: 'order-book',
    event,
    ...{ reason, changes, compared, changed, missed, late },
    mismatches: unequal.size,
  };
}
