import { explainIssue, orderBookClientMessageSchema } from '../../../client/wire/index.js';
import { EXCHANGE_HOSTS } from '../../../core/index.js';
import type { EventView, ExchangeCore, MarketView, PriceChange } from '../../engine/index.js';
import { StreamRequestError } from '../errors.js';
import type { Faults } from '../faults.js';
import type { WireEncoder } from '../wire-encoder.js';
import { sendDelta } from './send-delta.js';
import type { StreamEndpoint } from './stream-server.js';
import type { StreamSocket } from './stream-socket.js';

/** The prices of a market: last trade price, best bid, best ask, each 0..1. */
export interface Quote {
  readonly marketId: string;
  readonly chance: number;
  readonly bestBid: number;
  readonly bestAsk: number;
}

interface OrderBookStreamOptions {
  readonly core: Pick<ExchangeCore, 'event' | 'on'>;
  readonly faults: Faults;
  readonly encoder: WireEncoder;
  readonly heartbeatSeconds: number | undefined;
}

/** The order book stream, part 6.1: a snapshot after SUBSCRIBE, then one delta per change, never merged, in order. */
export class OrderBookStream implements StreamEndpoint {
  readonly path = EXCHANGE_HOSTS.orderBookWs.path;
  readonly stream = 'order-book';
  readonly heartbeat?: { readonly frame: Buffer; readonly everyMs: number };
  #subscribers = new Map<string, Set<StreamSocket>>();
  #eventsOf = new Map<StreamSocket, Set<string>>();
  /** The last quotes of the load generator, which are not in any book. */
  #generated = new Map<string, Quote>();

  constructor(private readonly options: OrderBookStreamOptions) {
    if (options.heartbeatSeconds !== undefined) {
      this.heartbeat = { frame: this.#frame({ t: 'PING' }), everyMs: options.heartbeatSeconds * 1000 };
    }
  }

  /** Subscribes to price changes. */
  start(): void {
    this.options.core.on('price', (change) => this.#onChange(change));
  }

  /** IDs of the events that have subscribers. */
  subscribedEvents(): Iterable<string> {
    return this.#subscribers.keys();
  }

  onMessage(socket: StreamSocket, message: unknown): undefined {
    const parsed = orderBookClientMessageSchema.safeParse(message);
    if (!parsed.success) {
      const { path, reason } = explainIssue(parsed.error, message);
      throw new StreamRequestError(path === '' ? reason : `${path}: ${reason}`);
    }
    const { t, e } = parsed.data;
    const event = this.options.core.event(e);
    if (!event) throw new StreamRequestError(`unknown event ${e.slice(0, 100)}`);
    if (t === 'SUBSCRIBE') {
      this.#subscribe(socket, e);
      socket.send(this.#frame({ t: 'SUBSCRIBED', e }), e);
    } else if (t === 'UNSUBSCRIBE') {
      this.#unsubscribe(socket, e);
      socket.send(this.#frame({ t: 'UNSUBSCRIBED', e }), e);
      return;
    }
    socket.send(this.#snapshot(event), e);
  }

  onClose(socket: StreamSocket): void {
    for (const eventId of this.#eventsOf.get(socket) ?? []) this.#unsubscribe(socket, eventId);
    this.#eventsOf.delete(socket);
  }

  isSubscribed(socket: StreamSocket, eventId: string): boolean {
    return this.#eventsOf.get(socket)?.has(eventId) ?? false;
  }

  errorFrame(text: string, message: unknown): Buffer {
    const e = typeof message === 'object' && message !== null ? (message as { e?: unknown }).e : undefined;
    return this.#frame({ t: 'ERROR', ...(typeof e === 'string' ? { e } : {}), r: text });
  }

  /**
   * Sends a generated quote, and includes it in snapshots until the book changes.
   * @returns false when the event has no subscribers; then nothing is sent
   */
  publishGenerated(eventId: string, quote: Quote): boolean {
    if (!this.#subscribers.has(eventId)) return false;
    this.#generated.set(quote.marketId, quote);
    this.#publish(eventId, quote);
    return true;
  }

  #onChange(change: PriceChange): void {
    if (this.#generated.size > 0) this.#generated.delete(change.marketId);
    this.#publish(change.eventId, change);
  }

  #publish(eventId: string, quote: Quote): void {
    const subscribers = this.#subscribers.get(eventId);
    if (!subscribers) return;
    const frame = this.#frame({ t: 'PRICES_DATA_DELTA', e: eventId, d: [priceEntry(quote)] });
    sendDelta({ stream: this.stream, eventId, frame }, subscribers, this.options.faults);
  }

  #snapshot(event: EventView): Buffer {
    const quotes = event.markets.map((market: MarketView) => this.#generated.get(market.marketId) ?? market);
    return this.#frame({ t: 'PRICES_DATA', e: event.eventId, d: quotes.map(priceEntry) });
  }

  #subscribe(socket: StreamSocket, eventId: string): void {
    added(this.#subscribers, eventId).add(socket);
    added(this.#eventsOf, socket).add(eventId);
  }

  #unsubscribe(socket: StreamSocket, eventId: string): void {
    this.#eventsOf.get(socket)?.delete(eventId);
    const sockets = this.#subscribers.get(eventId);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#subscribers.delete(eventId);
  }

  #frame(message: object): Buffer {
    return Buffer.from(this.options.encoder.encode(message));
  }
}

const priceEntry = (quote: Quote) => ({
  o: quote.marketId,
  c: quote.chance,
  b: quote.bestBid,
  a: quote.bestAsk,
});

/** The set at a key; it is created when missing. */
function added<K, V>(map: Map<K, Set<V>>, key: K): Set<V> {
  let set = map.get(key);
  if (!set) {
    set = new Set();
    map.set(key, set);
  }
  return set;
}
