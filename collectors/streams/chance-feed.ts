import { type ChanceMessage, ChanceStream, type StreamFrame } from '../../client/index.js';
import { describeError } from '../../core/index.js';
import { Shards } from './connection-pool.js';
import { FeedConnection } from './feed-connection.js';
import { keyOf, type StreamFeedOptions } from './order-book-feed.js';
import { steering, streamOptions } from './stream-options.js';
import type { MarketValues, Subscription } from './subscription.js';

/** How far back a probe asks, seconds: the answer ends with the last known value however old that is (part 6.2). */
const PROBE_RANGE_S = 60;

/** History may know of a change a little later than the stream. */
const HISTORY_SETTLE_MICROS = 3_000_000;

/** Records the chance stream (part 6.2) of all markets that it is told of. */
export class ChanceFeed {
  readonly #shards: Shards<FeedConnection>;
  /** For messages that name the market only. */
  readonly #eventOf = new Map<string, string>();

  constructor(private readonly options: StreamFeedOptions) {
    this.#shards = new Shards(options.subscriptionsPerConnection, () => this.#connect());
  }

  /** Subscribes to the event's markets, or to those that are new. */
  add(eventId: string, marketIds: readonly string[]): void {
    if (marketIds.every((marketId) => this.#eventOf.has(marketId))) return;
    for (const marketId of marketIds) this.#eventOf.set(marketId, eventId);
    this.#shards.place(eventId).add(eventId, marketIds);
  }

  remove(eventId: string, cause: string): void {
    const connection = this.#shards.get(eventId);
    for (const marketId of connection?.subscriptions.get(eventId)?.marketIds ?? []) this.#eventOf.delete(marketId);
    connection?.remove(eventId, cause);
    this.#shards.release(eventId);
  }

  close(): Promise<void> {
    return this.#shards.close();
  }

  #connect(): FeedConnection {
    const stream = new ChanceStream({
      ...streamOptions<ChanceMessage>(this.options, {
        connection: () => connection,
        keyOf: (frame) => this.#keyOf(frame, connection),
        take: (message, at) => this.#take(connection, message, at),
      }),
      confirmTimeoutMs: this.options.answerMs,
    });
    const connection: FeedConnection = new FeedConnection(this.options, {
      stream: 'chance',
      kind: 'chance.frame',
      // Answers name no request: one at a time.
      maxProbes: 1,
      settleMicros: HISTORY_SETTLE_MICROS,
      subscribe: ({ eventId, marketIds }) => stream.subscribe(eventId, marketIds),
      resubscribe: ({ eventId, marketIds }) => {
        stream.unsubscribe(eventId);
        stream.subscribe(eventId, marketIds);
      },
      unsubscribe: ({ eventId }) => stream.unsubscribe(eventId),
      probe: (subscription) => this.#probe(stream, connection, subscription),
      ...steering(stream),
    });
    stream.start();
    return connection;
  }

  /** The answer comes as a message like any other; only that none came is told here. */
  #probe(stream: ChanceStream, connection: FeedConnection, { eventId, knownMarkets }: Subscription): boolean {
    const now = Math.ceil(this.options.clock.nowMs() / 1000);
    const query = { eventId, marketIds: knownMarkets, from: now - PROBE_RANGE_S, to: now + PROBE_RANGE_S };
    stream.history(query, { timeoutMs: this.options.answerMs }).catch((error) => {
      connection.health.onNoAnswer(eventId, describeError(error));
    });
    return true;
  }

  #keyOf(frame: StreamFrame, connection: FeedConnection): string {
    const key = keyOf(frame, connection);
    if (key !== frame.connection) return key;
    const { o } = (frame.parsed ?? {}) as { o?: unknown };
    return (Array.isArray(o) && typeof o[0] === 'string' ? this.#eventOf.get(o[0]) : undefined) ?? key;
  }

  #take(connection: FeedConnection, message: ChanceMessage, at: number): void {
    switch (message.type) {
      case 'probability': {
        const values = new Map(message.points.map((p) => [p.marketId, String(p.probability)]));
        for (const [eventId, own] of this.#byEvent(values, message.eventId)) {
          if (message.initial) connection.health.onState(eventId, own, at, true);
          else for (const [marketId, value] of own) connection.health.onChange(eventId, marketId, value, at);
        }
        return;
      }
      case 'history': {
        // An empty series is a market without a past: it says nothing.
        const last = message.series.flatMap((s) => s.points.slice(-1).map((p) => [s.marketId, String(p.probability)]));
        const values = new Map(last as [string, string][]);
        for (const [eventId, own] of this.#byEvent(values, message.eventId))
          connection.health.onState(eventId, own, at, false);
        return;
      }
      case 'aggregated':
        for (const { marketId } of message.points) connection.health.onLife(this.#eventOf.get(marketId) ?? '', at);
        return;
      case 'error':
        if (message.eventId !== null) connection.health.onRefused(message.eventId);
        return;
    }
  }

  #byEvent(values: MarketValues, eventId: string | null): Map<string, Map<string, string>> {
    const events = new Map<string, Map<string, string>>();
    for (const [marketId, value] of values) {
      const event = this.#eventOf.get(marketId) ?? eventId;
      if (event === null) continue;
      const own = events.get(event) ?? new Map<string, string>();
      events.set(event, own.set(marketId, value));
    }
    return events;
  }
}
