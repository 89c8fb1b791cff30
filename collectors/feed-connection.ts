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

  /** The only event whose probe is unanswered, if there is exactly one. */
  get probed(): Subscription | undefined {
    return [...this.#subscriptions.values()].find((s) => s.probedAt !== undefined);
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

  /** The exchange told all values of an event: its first state, or its word against ours. */
  onState(eventId: string, values: MarketValues, at: number): void {
    const subscription = this.#subscriptions.get(eventId);
    if (!subscription || this.#connection === undefined) return;
    const { stream } = this.protocol;
    const about = { stream, connection: this.#connection, event: eventId };
    if (!subscription.live) {
      const before = subscription.provenAt;
      subscription.begin(values, at);
      void this.parts.marks.write({ type: 'subscribed', ...about, markets: [...values.keys()] }, at);
      if (before > 0) this.parts.onGap?.(eventId);
      return;
    }
    const probed = subscription.probedAt !== undefined;
    if (subscription.compare(values, at) && probed) void this.parts.marks.write({ type: 'quiet', ...about }, at);
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
    let probing = 0;
    for (const s of this.#subscriptions.values()) if (s.probedAt !== undefined) probing += 1;
    for (const subscription of [...this.#subscriptions.values()]) {
      if (this.#connection === undefined) return;
      if (this.#check(subscription, now)) continue;
      if (!subscription.live || probing >= this.protocol.maxProbes || !this.#isDue(subscription, now)) continue;
      if (!this.protocol.probe(subscription)) continue;
      subscription.probedAt = now;
      probing += 1;
      this.parts.metrics.probes.inc({ stream: this.protocol.stream });
    }
  }

  /** Acts on what took too long; true when it did. */
  #check(subscription: Subscription, now: number): boolean {
    const answerMicros = this.parts.answerMs * 1000;
    const { suspect, probedAt } = subscription;
    if (suspect && now - suspect.since > GRACE_MICROS) {
      this.#freeze(
        subscription,
        subscription.provenAt,
        `the exchange tells other values for ${suspect.values.size} markets`,
      );
      this.protocol.resubscribe(subscription);
      return true;
    }
    if (probedAt !== undefined && now - probedAt > answerMicros) {
      this.onNoAnswer(subscription.eventId, `a probe was not answered for ${this.parts.answerMs} ms`);
      return true;
    }
    if (!subscription.live && now - subscription.askedAt > answerMicros) {
      const silent = this.#heardAt < subscription.askedAt;
      subscription.ask(now);
      if (silent) this.protocol.recycle(`a subscription was not answered for ${this.parts.answerMs} ms`);
      else this.protocol.resubscribe(subscription);
      return true;
    }
    return false;
  }

  #isDue(subscription: Subscription, now: number): boolean {
    if (subscription.probedAt !== undefined || subscription.suspect) return false;
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
