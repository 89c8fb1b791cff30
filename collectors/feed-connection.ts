import type { Connected, ConnectFailed, Disconnected, StreamFrame } from '../client/index.js';
import type { Clock, RecordKind, StreamName } from '../core/index.js';
import type { Marks } from './marks.js';
import type { CollectorMetrics } from './metrics.js';
import type { OutageLog } from './outage.js';
import type { Publisher } from './publisher.js';
import { type MarketValues, Subscription } from './subscription.js';

export interface FeedParts {
  readonly publisher: Publisher;
  readonly marks: Marks;
  readonly metrics: CollectorMetrics;
  readonly outage: OutageLog;
  readonly clock: Clock;
  /** Silence after which a subscription is probed, milliseconds. A busy one is probed after three times as much. */
  readonly silenceMs: number;
  /** How long an answer is waited for, milliseconds. */
  readonly answerMs: number;
  /** Data of the event was missed, or may have been: what can be repaired should be. */
  readonly onGap?: (eventId: string) => void;
}

/** What one stream of the exchange does in its own way. */
export interface FeedProtocol {
  readonly stream: StreamName;
  readonly kind: RecordKind;
  /** Probes that may be unanswered at a time. */
  readonly maxProbes: number;
  subscribe(subscription: Subscription): void;
  /** Subscribes anew on the open connection. */
  resubscribe(subscription: Subscription): void;
  unsubscribe(subscription: Subscription): void;
  /** Asks the exchange for its word on the event; false when nothing could be sent. */
  probe(subscription: Subscription): boolean;
  pause(): void;
  resume(): void;
  recycle(cause: string): void;
  close(): Promise<void>;
}

/** How long values that the exchange told may be ahead of the deltas that bring them, microseconds. */
const GRACE_MICROS = 1_500_000;
const TICK_MS = 500;
/** A connection that broke after it was silent for this long proves nothing about that time, microseconds. */
const UNPROVEN_SILENCE_MICROS = 5_000_000;
/** How often the wait for a subscription's first state may double. */
const MAX_DOUBLINGS = 6;
/** How long a refused subscription is left alone, microseconds. */
const REFUSED_MICROS = 30_000_000;

/**
 * One connection of a feed: records its frames, and knows for each of its events whether what was seen of it is
 * everything. A subscription counts from its first state; after silence, and now and then while it is busy, the
 * exchange is asked; an answer that equals what is known proves it, anything else is a frozen subscription: it is
 * marked with its last proof and subscribed anew.
 */
export class FeedConnection {
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #timer: NodeJS.Timeout;
  #connection: string | undefined;
  #reqJson = '{}';
  #heardAt = 0;
  #paused = false;
  #probing: NodeJS.Immediate | undefined;

  constructor(
    private readonly parts: FeedParts,
    private readonly protocol: FeedProtocol,
  ) {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  subscription(eventId: string): Subscription | undefined {
    return this.#subscriptions.get(eventId);
  }

  add(eventId: string, marketIds: readonly string[]): void {
    const existing = this.#subscriptions.get(eventId);
    const subscription = existing ?? new Subscription(eventId, marketIds, this.parts.clock.nowMicros());
    subscription.marketIds = marketIds;
    this.#subscriptions.set(eventId, subscription);
    this.protocol.subscribe(subscription);
    if (!existing) this.parts.metrics.subscriptions.inc({ stream: this.protocol.stream });
  }

  remove(eventId: string, cause: string): void {
    const subscription = this.#subscriptions.get(eventId);
    if (!subscription) return;
    this.#subscriptions.delete(eventId);
    this.protocol.unsubscribe(subscription);
    this.parts.metrics.subscriptions.dec({ stream: this.protocol.stream });
    if (this.#connection === undefined) return;
    const { stream } = this.protocol;
    void this.parts.marks.write({ type: 'unsubscribed', stream, connection: this.#connection, event: eventId, cause });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearImmediate(this.#probing);
    await this.protocol.close();
    this.parts.metrics.subscriptions.dec({ stream: this.protocol.stream }, this.#subscriptions.size);
  }

  /** Every frame goes to the bus, whatever it holds. When the queue there is full, nothing more is read for now. */
  onFrame(frame: StreamFrame, key: string): void {
    const { publisher, metrics } = this.parts;
    const { stream, kind } = this.protocol;
    const { receivedAtMicros: at, bodyJson, enc } = frame;
    this.#heardAt = at;
    metrics.frames.inc({ stream });
    metrics.frameBytes.inc({ stream }, frame.data.length);
    if (publisher.push({ kind, key, at, reqJson: this.#reqJson, bodyJson, enc }) || this.#paused) return;
    this.#paused = true;
    this.protocol.pause();
    void publisher.whenRoom().then(() => {
      this.#paused = false;
      this.protocol.resume();
    });
  }

  onConnected({ connection, url, atMicros }: Connected): void {
    const { stream } = this.protocol;
    this.#connection = connection;
    this.#reqJson = JSON.stringify({ stream, connection });
    this.#heardAt = atMicros;
    this.parts.outage.succeeded();
    this.parts.metrics.connections.inc({ stream });
    for (const subscription of this.#subscriptions.values()) subscription.ask(atMicros);
    void this.parts.marks.write({ type: 'connected', stream, connection, url }, atMicros);
  }

  onDisconnected({ connection, atMicros, cause, orderly }: Disconnected): void {
    const { stream } = this.protocol;
    if (!orderly && atMicros - this.#heardAt > UNPROVEN_SILENCE_MICROS)
      this.#freezeAll(`silent before it was lost: ${cause}`);
    this.#connection = undefined;
    for (const subscription of this.#subscriptions.values()) subscription.lose();
    this.parts.metrics.connections.dec({ stream });
    this.parts.metrics.reconnects.inc({ stream });
    void this.parts.marks.write({ type: 'disconnected', stream, connection, cause }, atMicros);
  }

  onConnectFailed({ error }: ConnectFailed): void {
    this.parts.outage.failed(error.message);
  }

  /**
   * The exchange told all values of an event: its word against ours, or the first state of a subscription.
   * @param first whether it may be a first state: what comes after SUBSCRIBE looks like this
   */
  onState(eventId: string, values: MarketValues, at: number, first: boolean): void {
    const subscription = this.#subscriptions.get(eventId);
    if (!subscription || this.#connection === undefined || (!subscription.live && !first)) return;
    const { stream } = this.protocol;
    const about = { stream, connection: this.#connection, event: eventId };
    const { live, provenAt, probedAt, knownMarkets } = subscription;
    const proven = live && subscription.compare(values, at);
    if (!live) subscription.begin(values, at);
    if (!live || [...values.keys()].some((market) => !knownMarkets.includes(market))) {
      void this.parts.marks.write({ type: 'subscribed', ...about, markets: subscription.knownMarkets }, at);
    }
    if (!live && provenAt > 0) this.parts.onGap?.(eventId);
    if (probedAt === undefined) return;
    if (proven) void this.parts.marks.write({ type: 'quiet', ...about }, at);
    this.#probeSoon();
  }

  onChange(eventId: string, marketId: string, value: string, at: number): void {
    this.#subscriptions.get(eventId)?.change(marketId, value, at);
  }

  /** Data that proves life but is no value, like an aggregated point. */
  onLife(eventId: string, at: number): void {
    const subscription = this.#subscriptions.get(eventId);
    if (subscription) subscription.heardAt = at;
  }

  /** The exchange refused something about the event: it is asked again later. */
  onRefused(eventId: string): void {
    const subscription = this.#subscriptions.get(eventId);
    if (subscription && !subscription.live) subscription.askedAt = this.parts.clock.nowMicros() + REFUSED_MICROS;
  }

  /** A probe of the event will not be answered. */
  onNoAnswer(eventId: string, cause: string): void {
    const subscription = this.#subscriptions.get(eventId);
    if (!subscription?.live || this.#connection === undefined) return;
    const asked = subscription.probedAt ?? 0;
    if (this.#heardAt > asked) {
      this.#freeze(subscription, subscription.heardAt, cause);
      this.protocol.resubscribe(subscription);
      return;
    }
    // Not a word about anything since it was asked: the whole connection is dead, and all it told of silence is void.
    this.#freezeAll(cause);
    this.protocol.recycle(cause);
  }

  #tick(): void {
    if (this.#connection === undefined || this.#paused) return;
    const now = this.parts.clock.nowMicros();
    for (const subscription of [...this.#subscriptions.values()]) {
      this.#check(subscription, now);
      if (this.#connection === undefined) return;
    }
    this.#probeDue(now);
  }

  /** An answer came: the next probe need not wait for the next tick. */
  #probeSoon(): void {
    if (this.#probing) return;
    this.#probing = setImmediate(() => {
      this.#probing = undefined;
      if (this.#connection !== undefined && !this.#paused) this.#probeDue(this.parts.clock.nowMicros());
    });
  }

  #probeDue(now: number): void {
    const subscriptions = [...this.#subscriptions.values()];
    let room = this.protocol.maxProbes - subscriptions.filter((s) => s.probedAt !== undefined).length;
    for (const subscription of subscriptions) {
      if (room <= 0) return;
      if (!this.#isDue(subscription, now) || !this.protocol.probe(subscription)) continue;
      subscription.probedAt = now;
      room -= 1;
      this.parts.metrics.probes.inc({ stream: this.protocol.stream });
    }
  }

  /** Acts on what took too long. */
  #check(subscription: Subscription, now: number): void {
    const answerMicros = this.parts.answerMs * 1000;
    const { suspect, probedAt } = subscription;
    if (suspect && now - suspect.since > GRACE_MICROS) {
      const cause = `the exchange tells other values for ${suspect.values.size} of its markets`;
      this.#freeze(subscription, subscription.provenAt, cause);
      this.protocol.resubscribe(subscription);
    } else if (probedAt !== undefined && now - probedAt > answerMicros) {
      this.onNoAnswer(subscription.eventId, `a probe was not answered for ${this.parts.answerMs} ms`);
    } else if (!subscription.live) this.#askAgain(subscription, now);
  }

  /** A subscription that brought no first state is asked for again, less and less often, then on a new connection. */
  #askAgain(subscription: Subscription, now: number): void {
    const { attempts, askedAt } = subscription;
    const patienceMs = this.parts.answerMs * 2 ** Math.min(Math.max(attempts - 1, 0), MAX_DOUBLINGS);
    if (now - askedAt <= patienceMs * 1000) return;
    const silent = this.#heardAt <= askedAt;
    subscription.ask(now);
    if (silent || attempts > 1) this.protocol.recycle(`a subscription was not answered for ${patienceMs} ms`);
    else this.protocol.resubscribe(subscription);
  }

  #isDue(subscription: Subscription, now: number): boolean {
    if (!subscription.live || subscription.probedAt !== undefined || subscription.suspect) return false;
    const silenceMicros = this.parts.silenceMs * 1000;
    return now - subscription.heardAt > silenceMicros || now - subscription.provenAt > 3 * silenceMicros;
  }

  /** All that the connection carried; an event's silence after the last frame of any is not proven. */
  #freezeAll(cause: string): void {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.live) this.#freeze(subscription, Math.max(this.#heardAt, subscription.heardAt), cause);
    }
  }

  #freeze(subscription: Subscription, since: number, cause: string): void {
    const { stream } = this.protocol;
    if (this.#connection === undefined) return;
    subscription.ask(this.parts.clock.nowMicros());
    this.parts.metrics.frozen.inc({ stream });
    const about = { stream, connection: this.#connection, event: subscription.eventId };
    void this.parts.marks.write({ type: 'frozen', ...about, since, cause });
  }
}
