import { type ChanceMessage, ChanceStream, type StreamFrame } from '../../client/index.js';
import { describeError } from '../../core/index.js';
import { ConnectionPool } from './connection-pool.js';
import { controlsOf, type EventFeed, type EventFeedOptions, eventOf, streamOptions } from './event-feed.js';
import { FeedConnection } from './feed-connection.js';
import type { MarketValues, Subscription } from './subscription.js';

/** Range of a probe's request, seconds: the answer ends with the last value, however old that is (part 6.2). */
const PROBE_RANGE_S = 60;

/** History may contain a change a little later than the stream sends it. */
const HISTORY_LAG_MICROS = 3_000_000;

/** Records the chance stream (part 6.2) of the markets that are added. */
export class ChanceFeed implements EventFeed {
  readonly #pool: ConnectionPool<FeedConnection>;
  /** Market → event, for messages that name the market only. */
  readonly #eventByMarket = new Map<string, string>();

  constructor(private readonly options: EventFeedOptions) {
    this.#pool = new ConnectionPool(options.subscriptionsPerConnection, () => this.#connect());
  }

  add(eventId: string, marketIds: readonly string[]): void {
    if (marketIds.every((marketId) => this.#eventByMarket.has(marketId))) return;
    for (const marketId of marketIds) this.#eventByMarket.set(marketId, eventId);
    this.#pool.assign(eventId).add(eventId, marketIds);
  }

  remove(eventId: string, cause: string): void {
    const connection = this.#pool.get(eventId);
    const marketIds = connection?.subscriptions.get(eventId)?.marketIds ?? [];
    for (const marketId of marketIds) this.#eventByMarket.delete(marketId);
    connection?.remove(eventId, cause);
    this.#pool.release(eventId);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #connect(): FeedConnection {
    const stream = new ChanceStream({
      ...streamOptions<ChanceMessage>(this.options, {
        connection: () => connection,
        keyOf: (frame) => this.#keyOf(frame, connection),
        onMessage: (message, at) => this.#onMessage(connection, message, at),
      }),
      confirmTimeoutMs: this.options.answerMs,
    });
    const connection: FeedConnection = new FeedConnection(this.options, {
      stream: 'chance',
      kind: 'chance.frame',
      // Answers do not name their request: one at a time.
      maxProbes: 1,
      answerLagMicros: HISTORY_LAG_MICROS,
      subscribe: ({ eventId, marketIds }) => stream.subscribe(eventId, marketIds),
      resubscribe: ({ eventId, marketIds }) => {
        stream.unsubscribe(eventId);
        stream.subscribe(eventId, marketIds);
      },
      unsubscribe: ({ eventId }) => stream.unsubscribe(eventId),
      probe: (subscription) => this.#probe(stream, connection, subscription),
      ...controlsOf(stream),
    });
    stream.start();
    return connection;
  }

  /** The answer arrives in `#onMessage`, like any other message. */
  #probe(stream: ChanceStream, connection: FeedConnection, { eventId, knownMarkets }: Subscription): boolean {
    const now = Math.ceil(this.options.clock.nowMs() / 1000);
    const query = { eventId, marketIds: knownMarkets, from: now - PROBE_RANGE_S, to: now + PROBE_RANGE_S };
    stream.history(query, { timeoutMs: this.options.answerMs }).catch((error) => {
      connection.monitor.onNoAnswer(eventId, describeError(error));
    });
    return true;
  }

  #keyOf(frame: StreamFrame, connection: FeedConnection): string {
    const key = eventOf(frame, connection);
    if (key !== frame.connectionId) return key;
    const { o } = (frame.parsed ?? {}) as { o?: unknown };
    return (Array.isArray(o) && typeof o[0] === 'string' ? this.#eventByMarket.get(o[0]) : undefined) ?? key;
  }

  #onMessage({ monitor }: FeedConnection, message: ChanceMessage, at: number): void {
    switch (message.type) {
      case 'probability': {
        const values = new Map(message.points.map((p) => [p.marketId, String(p.probability)]));
        for (const [eventId, own] of this.#byEvent(values, message.eventId)) {
          if (message.initial) monitor.onState(eventId, own, at, true);
          else for (const [marketId, value] of own) monitor.onChange(eventId, marketId, value, at);
        }
        return;
      }
      case 'history': {
        // An empty series is a market without history: it verifies nothing.
        const last = message.series.flatMap((s) => s.points.slice(-1).map((p) => [s.marketId, String(p.probability)]));
        const values = new Map(last as [string, string][]);
        for (const [eventId, own] of this.#byEvent(values, message.eventId)) monitor.onState(eventId, own, at, false);
        return;
      }
      case 'aggregated':
        for (const { marketId } of message.points) monitor.onActivity(this.#eventByMarket.get(marketId) ?? '', at);
        return;
      case 'error':
        if (message.eventId !== null) monitor.onRefused(message.eventId);
        return;
    }
  }

  #byEvent(values: MarketValues, eventId: string | null): Map<string, Map<string, string>> {
    const events = new Map<string, Map<string, string>>();
    for (const [marketId, value] of values) {
      const event = this.#eventByMarket.get(marketId) ?? eventId;
      if (event === null) continue;
      const own = events.get(event) ?? new Map<string, string>();
      events.set(event, own.set(marketId, value));
    }
    return events;
  }
}
