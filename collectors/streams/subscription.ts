import type { AuditReason } from '../../core/index.js';

/** Values of an event's markets: market ID → text form; texts are equal if and only if the values are. */
export type MarketValues = ReadonlyMap<string, string>;

/** An unequal market: the known value, and that of the exchange. */
export interface Mismatch {
  readonly ours: string;
  readonly theirs: string;
  /** Whether the stream sent another value first: one that equals `theirs` is then no proof that nothing was lost. */
  overtaken: boolean;
}

/** A comparison of the known values with a snapshot of the exchange. */
export interface Audit {
  readonly reason: AuditReason;
  /** When the snapshot was received. */
  readonly at: number;
  /** When the known values were last verified before. */
  readonly lastEqualAt: number;
  /** Changes received since the previous audit. */
  readonly changes: number;
  /** Number of markets compared. */
  readonly compared: number;
  /** Number of markets not compared, because the snapshot may be older than their last change. */
  readonly undecided: number;
  /** Number of compared markets that changed since the previous audit of the reason `interval`. */
  readonly changed: number;
  /** Those whose last change was not received: unequal now, or in an audit of another reason since. */
  missed: number;
  /** Number of markets whose value in the snapshot was received as a change afterwards. */
  late: number;
  /** The other unequal markets. */
  readonly unequal: Map<string, Mismatch>;
}

/** What is known of a market on the present connection. */
interface KnownMarket {
  /** Its value in the last change or snapshot. */
  value: string;
  /** When a change set it; 0 for a snapshot. */
  changedAt: number;
  /** Whether it changed since the last audit of the reason `interval`. */
  changed: boolean;
  /** Whether its last change was not received, but found by an audit. */
  missed: boolean;
}

/** The state of one subscribed event. All times are Unix microseconds. */
export class Subscription {
  /** Whether the initial snapshot was received and everything since is known to be complete. */
  live = false;
  /** When the subscription was requested. */
  requestedAt: number;
  /** Number of requests since it was last live. */
  attempts = 0;
  /** When its last data was received. */
  receivedAt = 0;
  /** When the known values were last verified. */
  verifiedAt = 0;
  /** The pending probe. */
  probe: { readonly at: number; readonly reason: AuditReason } | undefined;
  /** Earliest time of the next probe. */
  notProbedBefore = 0;
  /** An audit with unequal markets, until changes of the stream match their values or the audit is finished. */
  pending: Audit | undefined;
  /** The last audit of the reason `interval` on the present connection, or the initial snapshot; undefined before that. */
  auditedAt: number | undefined;
  /** Changes received since the last audit. */
  changes = 0;
  /** Whether another stream has other values: an audit is due. */
  suspect = false;
  readonly #known = new Map<string, KnownMarket>();

  constructor(
    readonly eventId: string,
    /** Markets listed by event search. */
    public marketIds: readonly string[],
    nowMicros: number,
  ) {
    this.requestedAt = nowMicros;
  }

  /** Markets with known values. */
  get knownMarkets(): string[] {
    return [...this.#known.keys()];
  }

  knows(marketId: string): boolean {
    return this.#known.has(marketId);
  }

  /** Sets the initial snapshot after subscribing. What changed while it was not subscribed is in a gap, and not a loss. */
  confirm(values: MarketValues, at: number): void {
    this.invalidate();
    this.live = true;
    this.attempts = 0;
    this.receivedAt = at;
    this.verifiedAt = at;
    this.auditedAt ??= at;
    this.changes = 0;
    for (const market of this.knownMarkets) if (!values.has(market)) this.#known.delete(market);
    for (const [market, value] of values) {
      const known = this.#known.get(market);
      if (known?.value === value) known.changedAt = 0;
      else this.#known.set(market, newMarket(value, 0));
    }
  }

  /** Sets the value of a market. Returns whether it equals the previous one. */
  change(marketId: string, value: string, at: number): boolean {
    this.receivedAt = at;
    const known = this.#known.get(marketId);
    if (known === undefined) {
      this.changes += 1;
      this.#known.set(marketId, newMarket(value, at));
      return false;
    }
    const repeated = known.value === value;
    if (!repeated) this.changes += 1;
    known.changed ||= !repeated || known.missed;
    known.missed = false;
    known.value = value;
    known.changedAt = at;
    this.#resolve(marketId, value);
    return repeated;
  }

  /**
   * Compares the known values with a snapshot of the exchange, takes over its values, and adds unknown markets. While
   * markets are unequal, the audit is `pending`.
   * @param answerLagMicros the snapshot may not include changes younger than this
   */
  compare(values: MarketValues, at: number, reason: AuditReason, answerLagMicros = 0): Audit {
    const unequal = new Map<string, Mismatch>();
    const count = { compared: 0, undecided: 0, changed: 0, missed: 0 };
    for (const [market, theirs] of values) {
      const known = this.#known.get(market);
      if (known === undefined) {
        this.#known.set(market, newMarket(theirs, at));
        continue;
      }
      if (at - known.changedAt < answerLagMicros) {
        count.undecided += 1;
        continue;
      }
      count.compared += 1;
      const pending = this.pending?.unequal.get(market);
      if (this.pending && pending && pending.ours === theirs && !pending.overtaken) {
        // The exchange states our value again.
        this.#explain(this.pending, market);
        known.value = theirs;
        known.missed = false;
      }
      if (known.value !== theirs) {
        unequal.set(market, { ours: known.value, theirs, overtaken: false });
        known.value = theirs;
        known.changed = true;
        known.missed = true;
      }
      if (known.changed) count.changed += 1;
      if (known.missed) count.missed += 1;
      if (reason !== 'interval') continue;
      known.changed = false;
      known.missed = false;
    }
    const audit = { reason, at, lastEqualAt: this.verifiedAt, changes: this.changes, ...count, late: 0, unequal };
    this.receivedAt = at;
    this.probe = undefined;
    this.suspect = false;
    this.changes = 0;
    if (reason === 'interval') this.auditedAt = at;
    if (unequal.size > 0) this.#hold(audit);
    else if (!this.pending && count.undecided === 0) this.verifiedAt = at;
    return audit;
  }

  /** Ends the pending audit: its values are verified unless markets remain unequal, or were not compared. */
  finishAudit(): Audit | undefined {
    const audit = this.pending;
    this.pending = undefined;
    if (audit?.unequal.size === 0 && audit.undecided === 0) this.verifiedAt = audit.at;
    return audit;
  }

  /** Marks it as not live until the next initial snapshot. */
  invalidate(): void {
    this.live = false;
    this.probe = undefined;
    this.pending = undefined;
  }

  /** Call when its connection has ended: values of another connection are not compared with its own. */
  disconnect(): void {
    this.invalidate();
    this.auditedAt = undefined;
    this.#known.clear();
  }

  /** Call when the subscription is requested again. */
  request(nowMicros: number): void {
    this.invalidate();
    this.attempts += 1;
    this.requestedAt = nowMicros;
  }

  /** A change of a market that is unequal in the pending audit: if it is the first one, the snapshot was ahead of the stream. */
  #resolve(marketId: string, value: string): void {
    const mismatch = this.pending?.unequal.get(marketId);
    if (!this.pending || !mismatch) return;
    if (mismatch.theirs === value && !mismatch.overtaken) this.#explain(this.pending, marketId);
    else mismatch.overtaken = true;
  }

  /** A value of a pending audit turned out not to be a loss. */
  #explain(audit: Audit, marketId: string): void {
    audit.unequal.delete(marketId);
    audit.late += 1;
    audit.missed -= 1;
  }

  /** A second snapshot while an audit is pending adds to it. */
  #hold(audit: Audit): void {
    if (!this.pending) {
      this.pending = audit;
      return;
    }
    for (const [market, mismatch] of audit.unequal) {
      if (this.pending.unequal.has(market)) continue;
      this.pending.unequal.set(market, mismatch);
      this.pending.missed += 1;
    }
  }
}

function newMarket(value: string, changedAt: number): KnownMarket {
  return { value, changedAt, changed: false, missed: false };
}
