import { backoffMs } from '../../core/index.js';
import type { FeedLine, FeedParts, FeedProtocol } from './feed-protocol.js';
import type { MarketValues, Subscription } from './subscription.js';

/** How long values that the exchange told may be ahead of the changes that bring them, microseconds. */
const GRACE_MICROS = 1_500_000;
const TICK_MS = 500;
/** The longest wait for a subscription's first state, as a multiple of the first one. */
const MAX_ANSWER_FACTOR = 64;
/** How long a refused subscription is left alone, microseconds. */
const REFUSED_MICROS = 30_000_000;

/**
 * Knows for each event of a connection whether what was seen of it is everything. A subscription counts from its first
 * state; after silence, and now and then while it is busy, the exchange is asked; an answer that equals what is known
 * proves it, anything else is a frozen subscription: it is marked with its last proof and subscribed anew.
 */
export class SubscriptionHealth {
  readonly #timer: NodeJS.Timeout;
  #probing: NodeJS.Immediate | undefined;

  constructor(
    private readonly parts: FeedParts,
    private readonly protocol: FeedProtocol,
    private readonly line: FeedLine,
  ) {
    this.#timer = setInterval(() => this.#tick(), Math.min(TICK_MS, parts.answerMs / 4));
  }

  stop(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#probing);
  }

  /**
   * The exchange told all values of an event: its word against ours, or the first state of a subscription.
   * @param first whether it may be a first state: what comes after SUBSCRIBE looks like this
   */
  onState(eventId: string, values: MarketValues, at: number, first: boolean): void {
    const subscription = this.line.subscriptions.get(eventId);
    const { connection } = this.line;
    if (!subscription || connection === undefined) return;
    const about = { stream: this.protocol.stream, connection, event: eventId };
    if (!subscription.live) {
      if (!first) return;
      const seenBefore = subscription.provenAt > 0;
      subscription.begin(values, at);
      void this.parts.marks.write({ type: 'subscribed', ...about, markets: subscription.knownMarkets }, at);
      if (seenBefore) this.parts.onGap?.(eventId);
      return;
    }
    const probed = subscription.probedAt !== undefined;
    const grown = [...values.keys()].some((market) => !subscription.knows(market));
    const verdict = subscription.compare(values, at, this.protocol.settleMicros);
    if (grown) void this.parts.marks.write({ type: 'subscribed', ...about, markets: subscription.knownMarkets }, at);
    if (!probed) return;
    if (verdict === 'same') void this.parts.marks.write({ type: 'quiet', ...about }, at);
    if (verdict === 'unknown') subscription.notProbedBefore = at + this.parts.silenceMs * 1000;
    this.#probeSoon();
  }

  onChange(eventId: string, marketId: string, value: string, at: number): void {
    this.line.subscriptions.get(eventId)?.change(marketId, value, at);
  }

  /** Data that proves life but is no value, like an aggregated point. */
  onLife(eventId: string, at: number): void {
    const subscription = this.line.subscriptions.get(eventId);
    if (subscription) subscription.heardAt = at;
  }

  /** The exchange refused something about the event: it is asked again later. */
  onRefused(eventId: string): void {
    const subscription = this.line.subscriptions.get(eventId);
    if (subscription && !subscription.live) subscription.askedAt = this.parts.clock.nowMicros() + REFUSED_MICROS;
  }

  /** A probe of the event will not be answered. */
  onNoAnswer(eventId: string, cause: string): void {
    const subscription = this.line.subscriptions.get(eventId);
    if (!subscription?.live || this.line.connection === undefined) return;
    if (this.line.heardAt > (subscription.probedAt ?? 0)) {
      this.#freeze(subscription, subscription.heardAt, cause);
      this.protocol.resubscribe(subscription);
      return;
    }
    // Not a word about anything since it was asked: the whole connection is dead, and all it told of silence is void.
    this.freezeAll(cause);
    this.protocol.recycle(cause);
  }

  /** All that the connection carried; an event's silence after the last frame of any is not proven. */
  freezeAll(cause: string): void {
    for (const subscription of this.line.subscriptions.values()) {
      if (subscription.live) this.#freeze(subscription, Math.max(this.line.heardAt, subscription.heardAt), cause);
    }
  }

  #tick(): void {
    const now = this.parts.clock.nowMicros();
    for (const subscription of [...this.line.subscriptions.values()]) {
      if (this.line.connection === undefined || this.line.paused) return;
      this.#check(subscription, now);
    }
    this.#probeDue(now);
  }

  /** An answer came: the next probe need not wait for the next tick. */
  #probeSoon(): void {
    this.#probing ??= setImmediate(() => {
      this.#probing = undefined;
      this.#probeDue(this.parts.clock.nowMicros());
    });
  }

  #probeDue(now: number): void {
    if (this.line.connection === undefined || this.line.paused) return;
    const subscriptions = [...this.line.subscriptions.values()];
    let room = this.protocol.maxProbes - subscriptions.filter((s) => s.probedAt !== undefined).length;
    for (const subscription of subscriptions) {
      if (room <= 0) return;
      if (!this.#isDue(subscription, now) || !this.protocol.probe(subscription)) continue;
      subscription.probedAt = now;
      room -= 1;
      this.parts.metrics.probes.inc({ stream: this.protocol.stream });
    }
  }

  #isDue(subscription: Subscription, now: number): boolean {
    const { live, probedAt, suspect, heardAt, provenAt, notProbedBefore } = subscription;
    if (!live || probedAt !== undefined || suspect || now < notProbedBefore) return false;
    const silenceMicros = this.parts.silenceMs * 1000;
    return now - heardAt > silenceMicros || now - provenAt > 3 * silenceMicros;
  }

  /** Acts on what took too long. */
  #check(subscription: Subscription, now: number): void {
    const { suspect, probedAt, provenAt, live, eventId } = subscription;
    const { answerMs } = this.parts;
    if (suspect && now - suspect.since > GRACE_MICROS) {
      this.#freeze(subscription, provenAt, `the exchange tells other values for ${suspect.values.size} of its markets`);
      this.protocol.resubscribe(subscription);
    } else if (probedAt !== undefined && now - probedAt > answerMs * 1000) {
      this.onNoAnswer(eventId, `a probe was not answered for ${answerMs} ms`);
    } else if (!live) this.#askAgain(subscription, now);
  }

  /** A subscription that brought no first state is asked for again, less and less often, then on a new connection. */
  #askAgain(subscription: Subscription, now: number): void {
    const { attempts, askedAt } = subscription;
    const { answerMs } = this.parts;
    const patienceMs = backoffMs(Math.max(attempts - 1, 0), { baseMs: answerMs, capMs: answerMs * MAX_ANSWER_FACTOR });
    if (now - askedAt <= patienceMs * 1000) return;
    const silent = this.line.heardAt <= askedAt;
    subscription.ask(now);
    if (silent || attempts > 1) this.protocol.recycle(`a subscription was not answered for ${patienceMs} ms`);
    else this.protocol.resubscribe(subscription);
  }

  #freeze(subscription: Subscription, since: number, cause: string): void {
    const { connection } = this.line;
    if (connection === undefined) return;
    const { stream } = this.protocol;
    subscription.ask(this.parts.clock.nowMicros());
    this.parts.metrics.frozen.inc({ stream });
    void this.parts.marks.write({ type: 'frozen', stream, connection, event: subscription.eventId, since, cause });
  }
}
