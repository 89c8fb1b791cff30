import type { StreamFrame } from '../../client/index.js';
import { type ExchangeAddresses, type OrderBookMessage, OrderBookStream, type PriceEntry } from '../../client/index.js';
import { Shards } from './connection-pool.js';
import { FeedConnection } from './feed-connection.js';
import type { FeedParts } from './feed-protocol.js';
import { steering, streamOptions } from './stream-options.js';

export interface StreamFeedOptions extends FeedParts {
  readonly addresses: ExchangeAddresses;
  /** Events on one connection, at most. */
  readonly subscriptionsPerConnection: number;
  readonly reconnectCapMs?: number;
}

/** Records the order book stream (part 6.1) of all events that it is told of. */
export class OrderBookFeed {
  readonly #shards: Shards<FeedConnection>;

  constructor(private readonly options: StreamFeedOptions) {
    this.#shards = new Shards(options.subscriptionsPerConnection, () => this.#connect());
  }

  add(eventId: string, marketIds: readonly string[]): void {
    if (!this.#shards.get(eventId)) this.#shards.place(eventId).add(eventId, marketIds);
  }

  remove(eventId: string, cause: string): void {
    this.#shards.get(eventId)?.remove(eventId, cause);
    this.#shards.release(eventId);
  }

  close(): Promise<void> {
    return this.#shards.close();
  }

  #connect(): FeedConnection {
    const stream = new OrderBookStream(
      streamOptions<OrderBookMessage>(this.options, {
        connection: () => connection,
        keyOf: (frame) => keyOf(frame, connection),
        take: (message, at) => take(connection, message, at),
      }),
    );
    const connection: FeedConnection = new FeedConnection(this.options, {
      stream: 'order-book',
      kind: 'order-book.frame',
      maxProbes: 16,
      // Deltas and snapshots come in order.
      settleMicros: 0,
      subscribe: ({ eventId }) => stream.subscribe(eventId),
      resubscribe: ({ eventId }) => {
        stream.unsubscribe(eventId);
        stream.subscribe(eventId);
      },
      unsubscribe: ({ eventId }) => stream.unsubscribe(eventId),
      probe: ({ eventId }) => stream.requestData(eventId),
      ...steering(stream),
    });
    stream.start();
    return connection;
  }
}

/** The event of a frame; what names none keeps its order with the connection. */
export function keyOf(frame: StreamFrame, { subscriptions }: Pick<FeedConnection, 'subscriptions'>): string {
  const { parsed, connection, enc, data } = frame;
  // What is no JSON, or holds too much to be parsed, still says near its beginning which event it is about.
  if (enc === 'text') {
    const named = NAMED_EVENT.exec(data.toString('utf8', 0, BEGINNING_BYTES))?.[1];
    return named !== undefined && subscriptions.has(named) ? named : connection;
  }
  const event = typeof parsed === 'object' && parsed !== null ? (parsed as { e?: unknown }).e : undefined;
  return typeof event === 'string' && event !== '' ? event : connection;
}

const BEGINNING_BYTES = 1024;
const NAMED_EVENT = /"e"\s*:\s*"([^"\\]+)"/;

function take(connection: FeedConnection, message: OrderBookMessage, at: number): void {
  if (message.type === 'prices') {
    if (message.snapshot) {
      connection.health.onState(message.eventId, new Map(message.prices.map((p) => [p.marketId, asText(p)])), at, true);
    } else {
      for (const price of message.prices)
        connection.health.onChange(message.eventId, price.marketId, asText(price), at);
    }
  } else if (message.type === 'error' && message.eventId !== null) {
    connection.health.onRefused(message.eventId);
  }
}

const asText = ({ chance, bestBid, bestAsk }: PriceEntry): string => `${chance} ${bestBid} ${bestAsk}`;
