import type { AuditReason, Clock } from '../../core/index.js';
import type { CollectorMetrics } from '../metrics.js';
import type { Audit, Subscription } from './subscription.js';

/** A connection whose subscriptions are audited. */
export interface AuditedConnection {
  /** The subscriptions for which a probe is due. */
  auditable(now: number): Iterable<AuditCandidate>;
  /** Sends a probe; false when it cannot be sent now. */
  probe(subscription: Subscription, reason: AuditReason): boolean;
}

export interface AuditCandidate {
  readonly connection: AuditedConnection;
  readonly subscription: Subscription;
  readonly reason: AuditReason;
}

export interface AuditScheduleOptions {
  readonly clock: Clock;
  /** Maximum rate of audits. */
  readonly auditsPerSecond: number;
  readonly metrics: CollectorMetrics;
}

const TICK_MS = 250;
/** Changes and seconds before the first audit, from which the mean rate of changes of an event begins. */
const CHANGES = { changes: 30, seconds: 300 };
/** Minimum of that rate, per second. */
const MIN_CHANGE_RATE = 0.1;
/** Loss rate before the first audit: one change of a hundred. */
const PRIOR = { missed: 1, changed: 100 };
/** Share of the differences between two streams that are losses, before the first one: a half. */
const DIFFERENCES = { audits: 2, confirmed: 1 };
/** Weight of what is known of the mean rate of changes after one more audit. */
const RATE_MEMORY = 0.999;
/** Weight of the loss rate of all events in that of one event, in audited markets. */
const COMMON_WEIGHT = 20;

/** Counts of audited markets. */
interface Tally {
  changed: number;
  missed: number;
}

/**
 * Decides which event of all connections of a stream is audited next. When more audits are due than the maximum rate
 * allows, the event with the largest expected undetected loss is first: changes since its last audit × estimated loss rate.
 * At least the mean rate of changes is assumed of each event, so that idle events wait no longer than the mean. A difference
 * between two streams counts as the share of earlier ones that were losses: where it never is one, it delays no other audit.
 */
export class AuditSchedule {
  readonly #connections = new Set<AuditedConnection>();
  readonly #all: Tally = { ...PRIOR };
  readonly #events = new Map<string, Tally>();
  readonly #differences = { ...DIFFERENCES };
  /** Counts of all audited events together. */
  readonly #audited = { ...CHANGES };
  #timer: NodeJS.Timeout | undefined;
  /** Number of audits that may be sent now. */
  #allowance = 0;
  #allowedAt = 0;

  constructor(private readonly options: AuditScheduleOptions) {}

  add(connection: AuditedConnection): void {
    this.#connections.add(connection);
    if (this.#timer) return;
    this.#allowedAt = this.options.clock.nowMicros();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  remove(connection: AuditedConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Call with every finished audit. */
  record(eventId: string, { reason, at, lastEqualAt, changes, changed, missed, unequal }: Audit): void {
    const { metrics } = this.options;
    this.#audited.changes = RATE_MEMORY * this.#audited.changes + changes;
    this.#audited.seconds = RATE_MEMORY * this.#audited.seconds + (at - lastEqualAt) / 1e6;
    metrics.audits.inc({ reason });
    metrics.auditMismatches.inc(unequal.size);
    metrics.auditInterval.observe((at - lastEqualAt) / 1e6);
    if (reason === 'difference') {
      this.#differences.audits += 1;
      if (unequal.size > 0) this.#differences.confirmed += 1;
    }
    if (reason !== 'interval') return;
    const own = this.#events.get(eventId) ?? { changed: 0, missed: 0 };
    this.#events.set(eventId, own);
    for (const tally of [own, this.#all]) {
      tally.changed += changed;
      tally.missed += missed;
    }
  }

  /** Call when the event is not recorded any more. */
  forget(eventId: string): void {
    this.#events.delete(eventId);
  }

  #tick(): void {
    const now = this.options.clock.nowMicros();
    this.#allow(now);
    const due = [...this.#connections].flatMap((connection) => [...connection.auditable(now)]);
    let waiting = due.length;
    for (const { connection, subscription, reason } of this.#byLoss(due, now)) {
      if (this.#allowance < 1) break;
      if (!connection.probe(subscription, reason)) continue;
      this.#allowance -= 1;
      waiting -= 1;
    }
    this.options.metrics.auditsWaiting.set(waiting);
  }

  #allow(now: number): void {
    const { auditsPerSecond } = this.options;
    const earned = (auditsPerSecond * Math.max(0, now - this.#allowedAt)) / 1e6;
    this.#allowance = Math.min(this.#allowance + earned, Math.max(1, (2 * auditsPerSecond * TICK_MS) / 1000));
    this.#allowedAt = now;
  }

  /** Silent connections first, then by the expected number of lost changes that no audit has found. */
  #byLoss(due: readonly AuditCandidate[], now: number): readonly AuditCandidate[] {
    const meanRate = Math.max(this.#audited.changes / this.#audited.seconds, MIN_CHANGE_RATE);
    const lossOf = ({ reason, subscription }: AuditCandidate) => {
      if (reason === 'silence') return Number.MAX_VALUE;
      if (reason === 'difference') return this.#differences.confirmed / this.#differences.audits;
      const { eventId, changes, verifiedAt } = subscription;
      return this.#lossRateOf(eventId) * Math.max(changes, (meanRate * (now - verifiedAt)) / 1e6);
    };
    const ranked = due.map((candidate) => ({ candidate, loss: lossOf(candidate) }));
    return ranked.sort((a, b) => b.loss - a.loss).map(({ candidate }) => candidate);
  }

  /** Estimated fraction of the event's changes that are lost. */
  #lossRateOf(eventId: string): number {
    const { changed = 0, missed = 0 } = this.#events.get(eventId) ?? {};
    const common = this.#all.missed / this.#all.changed;
    return (missed + COMMON_WEIGHT * common) / (changed + COMMON_WEIGHT);
  }
}
