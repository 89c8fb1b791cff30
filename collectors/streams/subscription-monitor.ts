import type { RawFrame } from '../../client/index.js';
import { type AuditReason, backoffMs, DIVERGED } from '../../core/index.js';
import type { AuditCandidate, AuditedConnection } from './audit-schedule.js';
import type { ConnectionState, FeedParts, FeedProtocol } from './feed-protocol.js';
import type { Audit, MarketValues, Subscription } from './subscription.js';

/** How far a snapshot of the exchange may be ahead of the stream's changes, microseconds. */
const GRACE_MICROS = 1_500_000;
const TICK_MS = 500;
/** Maximum factor by which the timeout of a subscription's initial snapshot grows. */
const MAX_TIMEOUT_FACTOR = 64;
/** Delay before a rejected subscription is requested again, microseconds. */
const REFUSED_MICROS = 30_000_000;
/** Changes without a time of the exchange that were read later than this are no observation of their time, milliseconds. */
const MAX_WAITED_MS = 5000;

/**
 * Verifies that all data of a connection's events was received. A subscription is live from its initial snapshot. A probe
 * requests the current values: if they equal the known ones, the subscription is verified. Otherwise it has diverged: that is
 * reported with the time of its last verification, and it is subscribed again. Probes are sent after silence and at intervals;
 * those of an audited stream when the schedule of its audits says so.
 */
export class SubscriptionMonitor implements AuditedConnection {
  readonly #timer: NodeJS.Timeout;
  #probing: NodeJS.Immediate | undefined;

  constructor(
    private readonly parts: FeedParts,
    private readonly protocol: FeedProtocol,
    private readonly state: ConnectionState,
  ) {
    this.#timer = setInterval(() => this.#tick(), Math.min(TICK_MS, parts.answerMs / 4));
    protocol.audits?.schedule.add(this);
  }

  stop(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#probing);
    this.protocol.audits?.schedule.remove(this);
  }

  /**
   * Call with all values of an event: the response to a probe, or the initial snapshot of a subscription.
   * @param first whether it may be an initial snapshot, which has the form of a response to SUBSCRIBE
   */
  onState(eventId: string, values: MarketValues, at: number, first: boolean): void {
    const subscription = this.state.subscriptions.get(eventId);
    const { connectionId } = this.state;
    if (!subscription || connectionId === undefined) return;
    const about = { stream: this.protocol.stream, connectionId, event: eventId };
    if (!subscription.live) {
      if (!first) return;
      subscription.confirm(values, at);
      void this.parts.collectorEvents.write({ type: 'subscribed', ...about, markets: subscription.knownMarkets }, at);
      // Also a new event may have changed before its initial snapshot.
      this.parts.onGap?.(eventId);
      return;
    }
    const { probe } = subscription;
    const hasNewMarkets = [...values.keys()].some((market) => !subscription.knows(market));
    const audit = subscription.compare(values, at, probe?.reason ?? 'unrequested', this.protocol.answerLagMicros);
    if (hasNewMarkets) {
      void this.parts.collectorEvents.write({ type: 'subscribed', ...about, markets: subscription.knownMarkets }, at);
    }
    if (subscription.pending?.unequal.size === 0) this.#finishAudit(subscription);
    if (!probe) return;
    if (!subscription.pending && audit.undecided === 0) this.#writeAudit(subscription, audit);
    if (audit.undecided > 0) subscription.notProbedBefore = at + this.parts.settings.silenceMs * 1000;
    this.#probeSoon();
  }

  /** Call with each change. Returns whether it equals the previous value of its market on this connection. */
  onChange(eventId: string, marketId: string, value: string, at: number): boolean {
    const subscription = this.state.subscriptions.get(eventId);
    if (!subscription) return false;
    const repeated = subscription.change(marketId, value, at);
    if (subscription.pending?.unequal.size === 0) this.#finishAudit(subscription);
    return repeated;
  }

  /** Call when no more data of the subscription will be received on this connection: no change can match a pending audit. */
  onEnd(subscription: Subscription): void {
    if (this.protocol.audits) this.#diverge(subscription);
  }

  /**
   * Call with each frame of changes that have no time of the exchange. If it may have waited too long to be read, its time of
   * receipt is not that of the changes: the event was not observed since the last frame that was read in time.
   */
  onWaited(
    eventId: string,
    { waitedMs, completeUntilMicros }: Pick<RawFrame, 'waitedMs' | 'completeUntilMicros'>,
  ): void {
    const subscription = this.state.subscriptions.get(eventId);
    // One that was requested again since then has been reported.
    if (waitedMs <= MAX_WAITED_MS || !subscription?.live || subscription.requestedAt > completeUntilMicros) return;
    const cause = `changes were read up to ${Math.round(waitedMs / 1000)} s late`;
    this.#reportStale(subscription, completeUntilMicros, cause);
    this.protocol.resubscribe(subscription);
  }

  /** Call for data of the event that is not a value, like an aggregated point. */
  onActivity(eventId: string, at: number): void {
    const subscription = this.state.subscriptions.get(eventId);
    if (subscription) subscription.receivedAt = at;
  }

  /** Call when the exchange rejected a subscription: it is requested again later. */
  onRefused(eventId: string): void {
    const subscription = this.state.subscriptions.get(eventId);
    if (subscription && !subscription.live) subscription.requestedAt = this.parts.clock.nowMicros() + REFUSED_MICROS;
  }

  /** Call when a probe of the event will get no response. */
  onNoAnswer(eventId: string, cause: string): void {
    const subscription = this.state.subscriptions.get(eventId);
    if (!subscription?.live || this.state.connectionId === undefined) return;
    if (this.state.receivedAt > (subscription.probe?.at ?? 0)) {
      this.#reportStale(subscription, subscription.receivedAt, cause);
      this.protocol.resubscribe(subscription);
      return;
    }
    // Nothing has been received since the probe was sent: the whole connection is stale.
    this.reportAllStale(cause);
    this.protocol.reconnect(cause);
  }

  /** Reports all subscriptions of the connection as stale, verified up to its last frame. */
  reportAllStale(cause: string): void {
    for (const subscription of this.state.subscriptions.values()) {
      const lastVerifiedAt = Math.max(this.state.receivedAt, subscription.receivedAt);
      if (subscription.live) this.#reportStale(subscription, lastVerifiedAt, cause);
    }
  }

  /** The subscriptions that the schedule of audits may probe now. Part of AuditedConnection. */
  *auditable(now: number): Iterable<AuditCandidate> {
    const { connectionId, paused, receivedAt } = this.state;
    if (connectionId === undefined || paused) return;
    const { silenceMs, auditMs } = this.parts.settings;
    const isSilent = now - receivedAt > silenceMs * 1000;
    for (const subscription of this.state.subscriptions.values()) {
      const { live, probe, pending, suspect, auditedAt = now } = subscription;
      if (!live || pending) continue;
      if (isSilent) {
        // One probe shows whether the connection works.
        if (!probe) yield { connection: this, subscription, reason: 'silence' };
        return;
      }
      if (probe) continue;
      if (suspect) yield { connection: this, subscription, reason: 'difference' };
      if (now - auditedAt >= auditMs * 1000) yield { connection: this, subscription, reason: 'interval' };
    }
  }

  /** Sends a probe of the subscription; false when it cannot be sent now. Part of AuditedConnection. */
  probe(subscription: Subscription, reason: AuditReason): boolean {
    if (subscription.probe || this.#capacity <= 0 || !this.protocol.probe(subscription)) return false;
    subscription.probe = { at: this.parts.clock.nowMicros(), reason };
    this.parts.metrics.probes.inc({ stream: this.protocol.stream });
    return true;
  }

  /** How many more probes may be sent now. */
  get #capacity(): number {
    let { maxProbes } = this.protocol;
    for (const { probe } of this.state.subscriptions.values()) if (probe) maxProbes -= 1;
    return maxProbes;
  }

  #tick(): void {
    const now = this.parts.clock.nowMicros();
    for (const subscription of [...this.state.subscriptions.values()]) {
      if (this.state.connectionId === undefined || this.state.paused) return;
      this.#check(subscription, now);
    }
    this.#probeDue(now);
  }

  /** After a response to a probe: sends the next one without waiting for the next tick. */
  #probeSoon(): void {
    this.#probing ??= setImmediate(() => {
      this.#probing = undefined;
      this.#probeDue(this.parts.clock.nowMicros());
    });
  }

  #probeDue(now: number): void {
    if (this.protocol.audits || this.state.connectionId === undefined || this.state.paused) return;
    for (const subscription of this.state.subscriptions.values()) {
      const reason = this.#dueFor(subscription, now);
      if (reason && !this.probe(subscription, reason) && this.#capacity <= 0) return;
    }
  }

  #dueFor(subscription: Subscription, now: number): AuditReason | undefined {
    const { live, probe, pending, receivedAt, verifiedAt, notProbedBefore } = subscription;
    if (!live || probe || pending || now < notProbedBefore) return undefined;
    const silenceMicros = this.parts.settings.silenceMs * 1000;
    if (now - receivedAt > silenceMicros) return 'silence';
    // Busy subscriptions too: what the stream skipped is in the response.
    return now - verifiedAt > silenceMicros ? 'interval' : undefined;
  }

  /** Handles timeouts. */
  #check(subscription: Subscription, now: number): void {
    const { pending, probe, live, eventId } = subscription;
    const { answerMs } = this.parts;
    if (pending && now - pending.at > GRACE_MICROS) {
      this.#diverge(subscription);
      subscription.request(now);
      this.protocol.resubscribe(subscription);
    } else if (probe && now - probe.at > answerMs * 1000) {
      this.onNoAnswer(eventId, `a probe was not answered for ${answerMs} ms`);
    } else if (!live) this.#requestAgain(subscription, now);
  }

  /** Requests a subscription without an initial snapshot again, with exponential backoff, then on a new connection. */
  #requestAgain(subscription: Subscription, now: number): void {
    const { attempts, requestedAt } = subscription;
    const { answerMs } = this.parts;
    const timeoutMs = backoffMs(Math.max(attempts - 1, 0), { baseMs: answerMs, capMs: answerMs * MAX_TIMEOUT_FACTOR });
    if (now - requestedAt <= timeoutMs * 1000) return;
    const silent = this.state.receivedAt <= requestedAt;
    subscription.request(now);
    if (silent || attempts > 1) this.protocol.reconnect(`a subscription was not answered for ${timeoutMs} ms`);
    else this.protocol.resubscribe(subscription);
  }

  #reportStale(subscription: Subscription, lastVerifiedAt: number, cause: string): void {
    const audit = this.#finishAudit(subscription);
    const diverged = audit !== undefined && audit.unequal.size > 0;
    subscription.request(this.parts.clock.nowMicros());
    this.#writeStale(subscription, diverged ? audit.lastEqualAt : lastVerifiedAt, diverged ? DIVERGED : cause);
  }

  /** Ends a pending audit: if markets are still unequal, changes were lost since the last verification. */
  #diverge(subscription: Subscription): void {
    const audit = this.#finishAudit(subscription);
    if (audit && audit.unequal.size > 0) this.#writeStale(subscription, audit.lastEqualAt, DIVERGED);
  }

  #writeStale(subscription: Subscription, lastVerifiedAt: number, cause: string): void {
    const { connectionId } = this.state;
    if (connectionId === undefined) return;
    const { stream } = this.protocol;
    const event = subscription.eventId;
    this.parts.metrics.stale.inc({ stream });
    void this.parts.collectorEvents.write({ type: 'stale', stream, connectionId, event, lastVerifiedAt, cause });
  }

  #finishAudit(subscription: Subscription): Audit | undefined {
    const audit = subscription.finishAudit();
    if (audit) this.#writeAudit(subscription, audit);
    return audit;
  }

  #writeAudit(subscription: Subscription, audit: Audit): void {
    const { connectionId } = this.state;
    const { stream, audits } = this.protocol;
    if (connectionId === undefined) return;
    const about = { stream, connectionId, event: subscription.eventId };
    if (!audits) {
      if (audit.unequal.size === 0 && audit.undecided === 0)
        void this.parts.collectorEvents.write({ type: 'verified', ...about }, audit.at);
      return;
    }
    audits.schedule.record(subscription.eventId, audit);
    const { at, undecided: _, unequal, ...counts } = audit;
    const mismatches = [...unequal].map(([market, { ours, theirs }]) => ({
      market,
      ours: audits.pricesOf(ours),
      theirs: audits.pricesOf(theirs),
    }));
    void this.parts.collectorEvents.write({ type: 'audited', ...about, ...counts, mismatches }, at);
  }
}
