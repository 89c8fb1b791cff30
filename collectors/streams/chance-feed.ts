import { type ChanceMessage, ChanceStream, type StreamFrame } from '../../client/index.js';
import { describeError } from '../../core/index.js';
import { ConnectionPool } from './connection-pool.js';
import { controlsOf, type EventFeed, type EventFeedOptions, eventOf, streamOptions } from './event-feed.js';
import { FeedConnection } from './feed-connection.js';
import { HistoryRanges } from './history-ranges.js';
import type { MarketValues, Subscription } from './subscription.js';

/** History may include a change a little later than the stream sends it, microseconds. */
const HISTORY_LAG_MICROS = 3_000_000;

/**
 * Records the chance stream (part 6.2) of the markets that are added. A probe requests raw history, of every second since
 * the previous probe: its response ends with the last values, which verify the subscription, and has the points that the
 * stream has skipped.
 */
export class ChanceFeed implements EventFeed {
  readonly #pool: ConnectionPool<FeedConnection>;
  /** Market → event, for messages without an event ID. */
  readonly #eventByMarket = new Map<string, string>();
  /** Market → connection, time and chance of its last live point. */
  readonly #lastPoints = new Map<string, string>();

  constructor(private readonly options: EventFeedOptions) {
    this.#pool = new ConnectionPool(options.settings.subscriptionsPerConnection, () => this.#connect());
  }

  add(eventId: string, marketIds: readonly string[]): void {
    if (marketIds.every((marketId) => this.#eventByMarket.has(marketId))) return;
    for (const marketId of marketIds) this.#eventByMarket.set(marketId, eventId);
    this.#pool.assign(eventId).add(eventId, marketIds);
  }

  remove(eventId: string, cause: string): void {
    const connection = this.#pool.get(eventId);
    const marketIds = connection?.subscriptions.get(eventId)?.marketIds ?? [];
    for (const marketId of marketIds) {
      this.#eventByMarket.delete(marketId);
      this.#lastPoints.delete(marketId);
    }
    connection?.remove(eventId, cause);
    this.#pool.release(eventId);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #connect(): FeedConnection {
    const ranges = new HistoryRanges();
    const options = streamOptions<ChanceMessage>(this.options, {
      connection: () => connection,
      onMessage: (message, frame) => {
        const response = this.#historyResponse(frame, ranges);
        const repeated = this.#repeatedIn(message, frame);
        connection.onFrame(frame, this.#keyOf(frame, connection), response?.range ?? (repeated && { repeated }));
        if (response) this.#onHistory(ranges, response.range.event);
        // The chances of a late response may be old: they verify nothing.
        if (!response?.late) this.#onMessage(connection, message, frame.receivedAtMicros);
      },
    });
    const stream = new ChanceStream({
      ...options,
      onConnected: (event) => {
        ranges.onConnected();
        options.onConnected?.(event);
      },
      confirmTimeoutMs: this.options.answerMs,
    });
    const connection: FeedConnection = new FeedConnection(this.options, {
      stream: 'chance',
      // Responses do not identify their request: one at a time.
      maxProbes: 1,
      answerLagMicros: HISTORY_LAG_MICROS,
      subscribe: ({ eventId, marketIds }) => stream.subscribe(eventId, marketIds),
      resubscribe: ({ eventId, marketIds }) => {
        stream.unsubscribe(eventId);
        stream.subscribe(eventId, marketIds);
      },
      unsubscribe: ({ eventId }) => {
        ranges.remove(eventId);
        stream.unsubscribe(eventId);
      },
      probe: (subscription) => this.#probe(stream, connection, ranges, subscription),
      ...controlsOf(stream),
    });
    stream.start();
    return connection;
  }

  /** The response arrives in `#onMessage`, like any other message. */
  #probe(
    stream: ChanceStream,
    { monitor }: FeedConnection,
    ranges: HistoryRanges,
    { eventId, knownMarkets }: Subscription,
  ): boolean {
    const range = ranges.next(eventId, this.options.clock.nowMs() / 1000);
    const query = { eventId, marketIds: knownMarkets, from: range.from, to: range.to };
    stream.history(query, { timeoutMs: this.options.answerMs }).catch((error) => {
      ranges.cancel(range, stream.isHistoryLate(eventId));
      monitor.onNoAnswer(eventId, describeError(error));
    });
    return true;
  }

  /** The numbers of the live points that equal the previous one of their market on this connection, in time and chance. */
  #repeatedIn(message: ChanceMessage, { connectionId }: StreamFrame): number[] | undefined {
    if (message.type !== 'probability' || message.initial) return undefined;
    let repeated: number[] | undefined;
    for (const [number, { marketId, time, probability }] of message.points.entries()) {
      const point = `${connectionId} ${time} ${probability}`;
      if (this.#lastPoints.get(marketId) === point) {
        repeated ??= [];
        repeated.push(number);
      } else if (this.#eventByMarket.has(marketId)) this.#lastPoints.set(marketId, point);
    }
    return repeated;
  }

  /** The request of a response to HISTORY, also of one that cannot be decoded. */
  #historyResponse({ parsed }: StreamFrame, ranges: HistoryRanges) {
    const { t, e, d } = (parsed ?? {}) as { t?: unknown; e?: unknown; d?: unknown };
    if (t !== 'HISTORY_RESPONSE') return undefined;
    if (typeof e === 'string') return ranges.responseOf(e);
    if (e !== undefined && e !== null) return undefined;
    const [marketId] = typeof d === 'object' && d !== null ? Object.keys(d) : [];
    return ranges.responseOf(this.#eventByMarket.get(marketId ?? '') ?? ranges.pending?.event ?? '');
  }

  #onHistory(ranges: HistoryRanges, event: string): void {
    const interval = ranges.onResponse(event);
    if (interval !== undefined) this.options.metrics.chanceHistoryInterval.set(interval);
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
          for (const [marketId, value] of own) this.options.onPrice?.(eventId, marketId, Number(value));
        }
        return;
      }
      case 'history': {
        // An empty series is a market without history, which verifies nothing.
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
