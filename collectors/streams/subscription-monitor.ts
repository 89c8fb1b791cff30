import { backoffMs } from '../../core/index.js';
import type { ConnectionState, FeedParts, FeedProtocol } from './feed-protocol.js';
import type { MarketValues, Subscription } from './subscription.js';

/** How long the exchange's statement may be ahead of the changes that bring its values, microseconds. */
const GRACE_MICROS = 1_500_000;
const TICK_MS = 500;
/** How much longer the timeout of a subscription's first state may become. */
const MAX_TIMEOUT_FACTOR = 64;
/** How long a refused subscription is not requested again, microseconds. */
const REFUSED_MICROS = 30_000_000;

/**
 * Verifies for each event of a connection that everything was received. A subscription is live from its first state.
 * After silence, and now and then while it is busy, a probe asks the exchange: an answer that equals what is known
 * verifies it. Otherwise it is stale: this is reported with the time of its last verification, and it is subscribed anew.
 */
export class SubscriptionMonitor {
  readonly #timer: NodeJS.Timeout;
  #probing: NodeJS.Immediate | undefined;

  constructor(
    private readonly parts: FeedParts,
    private readonly protocol: FeedProtocol,
    private readonly state: ConnectionState,
  ) {
    this.#timer = setInterval(() => this.#tick(), Math.min(TICK_MS, parts.answerMs / 4));
  }

  stop(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#probing);
  }

  /**
   * The exchange stated all values of an event: a probe's answer, or the first state of a subscription.
   * @param first whether it may be a first state: what follows SUBSCRIBE looks like this
   */
  onState(eventId: string, values: MarketValues, at: number, first: boolean): void {
    const subscription = this.state.subscriptions.get(eventId);
    const { connectionId } = this.state;
    if (!subscription || connectionId === undefined) return;
    const about = { stream: this.protocol.stream, connectionId, event: eventId };
    if (!subscription.live) {
      if (!first) return;
      const wasLiveBefore = subscription.verifiedAt > 0;
      subscription.confirm(values, at);
      void this.parts.collectorEvents.write({ type: 'subscribed', ...about, markets: subscription.knownMarkets }, at);
      if (wasLiveBefore) this.parts.onGap?.(eventId);
      return;
    }
    const probed = subscription.probedAt !== undefined;
    const hasNewMarkets = [...values.keys()].some((market) => !subscription.knows(market));
    const comparison = subscription.compare(values, at, this.protocol.answerLagMicros);
    if (hasNewMarkets) {
      void this.parts.collectorEvents.write({ type: 'subscribed', ...about, markets: subscription.knownMarkets }, at);
    }
    if (!probed) return;
    if (comparison === 'same') void this.parts.collectorEvents.write({ type: 'verified', ...about }, at);
    if (comparison === 'undecided') subscription.notProbedBefore = at + this.parts.silenceMs * 1000;
    this.#probeSoon();
  }

  onChange(eventId: string, marketId: string, value: string, at: number): void {
    this.state.subscriptions.get(eventId)?.change(marketId, value, at);
  }

  /** Data of the event that is not a value, like an aggregated point. */
  onActivity(eventId: string, at: number): void {
    const subscription = this.state.subscriptions.get(eventId);
    if (subscription) subscription.receivedAt = at;
  }

  /** The exchange refused a subscription: it is requested again later. */
  onRefused(eventId: string): void {
    const subscription = this.state.subscriptions.get(eventId);
    if (subscription && !subscription.live) subscription.requestedAt = this.parts.clock.nowMicros() + REFUSED_MICROS;
  }

  /** A probe of the event will not be answered. */
  onNoAnswer(eventId: string, cause: string): void {
    const subscription = this.state.subscriptions.get(eventId);
    if (!subscription?.live || this.state.connectionId === undefined) return;
    if (this.state.receivedAt > (subscription.probedAt ?? 0)) {
      this.#reportStale(subscription, subscription.receivedAt, cause);
      this.protocol.resubscribe(subscription);
      return;
    }
    // Nothing was received since the probe was sent: the whole connection is stale.
    this.reportAllStale(cause);
    this.protocol.reconnect(cause);
  }

  /** Every subscription of the connection, verified up to the last frame of any of them. */
  reportAllStale(cause: string): void {
    for (const subscription of this.state.subscriptions.values()) {
      const lastVerifiedAt = Math.max(this.state.receivedAt, subscription.receivedAt);
      if (subscription.live) this.#reportStale(subscription, lastVerifiedAt, cause);
    }
  }

  #tick(): void {
    const now = this.parts.clock.nowMicros();
    for (const subscription of [...this.state.subscriptions.values()]) {
      if (this.state.connectionId === undefined || this.state.paused) return;
      this.#check(subscription, now);
    }
    this.#probeDue(now);
  }

  /** A probe was answered: the next one need not wait for the next tick. */
  #probeSoon(): void {
    this.#probing ??= setImmediate(() => {
      this.#probing = undefined;
      this.#probeDue(this.parts.clock.nowMicros());
    });
  }

  #probeDue(now: number): void {
    if (this.state.connectionId === undefined || this.state.paused) return;
    const subscriptions = [...this.state.subscriptions.values()];
    let capacity = this.protocol.maxProbes - subscriptions.filter((s) => s.probedAt !== undefined).length;
    for (const subscription of subscriptions) {
      if (capacity <= 0) return;
      if (!this.#isDue(subscription, now) || !this.protocol.probe(subscription)) continue;
      subscription.probedAt = now;
      capacity -= 1;
      this.parts.metrics.probes.inc({ stream: this.protocol.stream });
    }
  }

  #isDue(subscription: Subscription, now: number): boolean {
    const { live, probedAt, mismatch, receivedAt, verifiedAt, notProbedBefore } = subscription;
    if (!live || probedAt !== undefined || mismatch || now < notProbedBefore) return false;
    const silenceMicros = this.parts.silenceMs * 1000;
    return now - receivedAt > silenceMicros || now - verifiedAt > 3 * silenceMicros;
  }

  /** Handles timeouts. */
  #check(subscription: Subscription, now: number): void {
    const { mismatch, probedAt, verifiedAt, live, eventId } = subscription;
    const { answerMs } = this.parts;
    if (mismatch && now - mismatch.since > GRACE_MICROS) {
      const cause = `the exchange states other values for ${mismatch.values.size} of its markets`;
      this.#reportStale(subscription, verifiedAt, cause);
      this.protocol.resubscribe(subscription);
    } else if (probedAt !== undefined && now - probedAt > answerMs * 1000) {
      this.onNoAnswer(eventId, `a probe was not answered for ${answerMs} ms`);
    } else if (!live) this.#requestAgain(subscription, now);
  }

  /** A subscription without a first state is requested again, less and less often, then on a new connection. */
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
    const { connectionId } = this.state;
    if (connectionId === undefined) return;
    const { stream } = this.protocol;
    const event = subscription.eventId;
    subscription.request(this.parts.clock.nowMicros());
    this.parts.metrics.stale.inc({ stream });
    void this.parts.collectorEvents.write({ type: 'stale', stream, connectionId, event, lastVerifiedAt, cause });
  }
}
