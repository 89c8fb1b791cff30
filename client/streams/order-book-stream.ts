import { EXCHANGE_HOSTS } from '../../core/index.js';
import { streamUrl } from '../addresses.js';
import { decodeOrderBookMessage, type OrderBookMessage } from '../decode/order-book.js';
import type { OrderBookClientMessageWire } from '../wire/order-book-stream.js';
import { StreamConnection } from './connection.js';
import { MessageDispatcher, type StreamEvent } from './message-dispatcher.js';
import { connectionOptions, DEFAULT_QUEUE_CAPACITY, type StreamOptions } from './options.js';

/**
 * The order book stream, part 6.1: prices of the markets of subscribed events. Subscriptions are sent again after every
 * reconnect. Use the handlers, or iterate over it; `start` connects.
 */
export class OrderBookStream implements AsyncIterable<StreamEvent<OrderBookMessage>> {
  readonly url: string;
  readonly #dispatcher: MessageDispatcher<OrderBookMessage>;
  readonly #connection: StreamConnection;
  readonly #events = new Set<string>();

  /** @throws AddressError */
  constructor(options: StreamOptions<OrderBookMessage>) {
    this.url = streamUrl(options.addresses, 'orderBookWs');
    this.#dispatcher = new MessageDispatcher<OrderBookMessage>({
      ...options,
      queueCapacity: options.queueCapacity ?? DEFAULT_QUEUE_CAPACITY,
      decode: decodeOrderBookMessage,
      isData: (message) => message.type === 'prices' && message.prices.length > 0,
      inner: { onConnected: () => this.#subscribeAll() },
    });
    this.#connection = new StreamConnection(
      connectionOptions(options, EXCHANGE_HOSTS.orderBookWs.serves, this.url),
      this.#dispatcher,
    );
    this.#dispatcher.attach(this.#connection);
  }

  /** UUID of the open connection. */
  get connectionId(): string | undefined {
    return this.#connection.connectionId;
  }

  /** IDs of the events that are subscribed, or will be with the next connection. */
  get subscriptions(): ReadonlySet<string> {
    return this.#events;
  }

  /** Connects, and reconnects until `close` or the signal. */
  start(signal?: AbortSignal): void {
    this.#connection.start(signal);
  }

  /** Subscribes to an event: SUBSCRIBED, then PRICES_DATA, then a PRICES_DATA_DELTA per change. */
  subscribe(eventId: string): void {
    this.#events.add(eventId);
    this.#send({ t: 'SUBSCRIBE', e: eventId });
  }

  unsubscribe(eventId: string): void {
    if (this.#events.delete(eventId)) this.#send({ t: 'UNSUBSCRIBE', e: eventId });
  }

  /** Requests PRICES_DATA of an event. False when there is no open connection. */
  requestData(eventId: string): boolean {
    return this.#send({ t: 'REQUEST_DATA', e: eventId });
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
  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent<OrderBookMessage>> {
    return this.#dispatcher.read();
  }

  /** Closes the connection and all readers. Frames may be received until it resolves. May be called twice. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  #subscribeAll(): void {
    for (const e of this.#events) this.#send({ t: 'SUBSCRIBE', e });
  }

  #send(message: OrderBookClientMessageWire): boolean {
    return this.#connection.send(JSON.stringify(message));
  }
}
