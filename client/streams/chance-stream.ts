import { EXCHANGE_HOSTS, systemClock } from '../../core/index.js';
import { streamUrl } from '../addresses.js';
import { type ChanceMessage, decodeChanceMessage } from '../decode/chance-stream.js';
import { checkPeriod } from '../rest/chance-history.js';
import { isoTime } from '../rest/params.js';
import { ChanceRequests, type StreamHistoryResult } from './chance-requests.js';
import { StreamConnection } from './connection.js';
import { MessageDispatcher, type StreamEvent } from './message-dispatcher.js';
import { connectionOptions, DEFAULT_QUEUE_CAPACITY, type StreamOptions } from './options.js';

/** The parameters of HISTORY, part 6.2. */
export interface StreamHistoryQuery {
  readonly eventId: string;
  /** Also called outcome IDs. */
  readonly marketIds: readonly string[];
  /** A period code, or a number of seconds as text; raw data by default. */
  readonly period?: string;
  /** Unix seconds. */
  readonly from: number;
  /** Unix seconds. */
  readonly to: number;
}

export interface StreamHistoryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Maximum time for the response, including the wait for earlier requests, milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
}

export interface ChanceStreamOptions extends StreamOptions<ChanceMessage> {
  /** Maximum wait for confirmations of subscriptions before HISTORY is sent, milliseconds. Default 10,000. */
  readonly confirmTimeoutMs?: number;
}

/**
 * The chance stream, part 6.2: probabilities of subscribed markets, and their history. Subscriptions are sent again after
 * every reconnect. Use the handlers, or iterate over it; `start` connects.
 */
export class ChanceStream implements AsyncIterable<StreamEvent<ChanceMessage>> {
  readonly url: string;
  readonly #dispatcher: MessageDispatcher<ChanceMessage>;
  readonly #connection: StreamConnection;
  readonly #requests: ChanceRequests;
  readonly #events = new Map<string, Set<string>>();

  /** @throws AddressError */
  constructor(options: ChanceStreamOptions) {
    this.url = streamUrl(options.addresses, 'chanceWs');
    this.#requests = new ChanceRequests({
      send: (message) => this.#connection.send(JSON.stringify(message)),
      reconnect: (cause) => this.#connection.reconnect(cause),
      clock: options.clock ?? systemClock,
      confirmTimeoutMs: options.confirmTimeoutMs ?? 10_000,
    });
    this.#dispatcher = new MessageDispatcher<ChanceMessage>({
      ...options,
      queueCapacity: options.queueCapacity ?? DEFAULT_QUEUE_CAPACITY,
      decode: decodeChanceMessage,
      isData: (message) =>
        message.type === 'history' ||
        ((message.type === 'probability' || message.type === 'aggregated') && message.points.length > 0),
      inner: {
        onMessage: (message, frame) => this.#requests.onMessage(message, frame),
        onConnected: () => this.#subscribeAll(),
        onDisconnected: ({ cause }) => this.#requests.onDisconnected(cause),
        onClosed: () => this.#requests.close(),
      },
    });
    this.#connection = new StreamConnection(
      connectionOptions(options, EXCHANGE_HOSTS.chanceWs.serves, this.url),
      this.#dispatcher,
    );
    this.#dispatcher.attach(this.#connection);
  }

  /** UUID of the open connection. */
  get connectionId(): string | undefined {
    return this.#connection.connectionId;
  }

  /** Market IDs by event ID that are subscribed, or will be with the next connection. */
  get subscriptions(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#events;
  }

  /** Connects, and reconnects until `close` or the signal. */
  start(signal?: AbortSignal): void {
    this.#connection.start(signal);
  }

  /** Subscribes to further markets of an event: their last known values, then every change. */
  subscribe(eventId: string, marketIds: readonly string[]): void {
    const markets = this.#events.get(eventId) ?? new Set();
    for (const marketId of marketIds) markets.add(marketId);
    this.#events.set(eventId, markets);
    // With all markets of the event, because it is not documented whether SUBSCRIBE adds or replaces.
    if (this.connectionId) this.#requests.subscription({ t: 'SUBSCRIBE', e: eventId, o: [...markets] });
  }

  /** Unsubscribes markets of an event, by default all. */
  unsubscribe(eventId: string, marketIds?: readonly string[]): void {
    const markets = this.#events.get(eventId);
    if (!markets) return;
    const o = (marketIds ?? [...markets]).filter((marketId) => markets.delete(marketId));
    if (markets.size === 0) this.#events.delete(eventId);
    if (this.connectionId && o.length > 0) this.#requests.subscription({ t: 'UNSUBSCRIBE', o });
  }

  /** Whether a HISTORY of the event timed out, and its response may still be received on the open connection. */
  isHistoryLate(eventId: string): boolean {
    return this.#requests.isLate(eventId);
  }

  /**
   * Requests history; one request is in flight at a time. After a timeout, the next request for the same event reconnects
   * first, unless the response has been received meanwhile: responses do not identify their request. The first point of a
   * series is the anchor, and a range without data is a flat line (part 6.2).
   * @throws UsageError for invalid parameters; `StreamError` when the exchange refuses; `TransportError` when no response
   * is received; the signal's reason when it is aborted
   */
  async history(query: StreamHistoryQuery, options: StreamHistoryOptions = {}): Promise<StreamHistoryResult> {
    const { eventId, marketIds, period, from, to } = query;
    const range = { f: isoTime('from', from), t: isoTime('to', to) };
    const d = period === undefined ? range : { p: checkPeriod(period), ...range };
    return this.#requests.history(
      { t: 'HISTORY', e: eventId, o: [...marketIds], d },
      `HISTORY of event ${eventId} on ${this.url}`,
      options.timeoutMs ?? 30_000,
      options.signal,
    );
  }

  /** Stops reading from the socket; a few more frames may be received. */
  pause(): void {
    this.#connection.pause(this);
  }

  resume(): void {
    this.#connection.resume(this);
  }

  /** Closes the connection and connects again. @param cause why, for `onDisconnected` */
  reconnect(cause: string): void {
    this.#connection.reconnect(cause);
  }

  /** Yields all events from now on. A slow reader slows the socket down. */
  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent<ChanceMessage>> {
    return this.#dispatcher.read();
  }

  /** Closes the connection and all readers, rejects pending requests. Frames may be received until it resolves. May be called twice. */
  async close(): Promise<void> {
    this.#requests.close();
    await this.#connection.close();
  }

  #subscribeAll(): void {
    for (const [e, markets] of this.#events) this.#requests.subscription({ t: 'SUBSCRIBE', e, o: [...markets] });
    this.#requests.onConnected();
  }
}
