import { type OrderBookMessage, OrderBookStream, type PriceEntry } from '../../client/index.js';
import { ConnectionPool } from './connection-pool.js';
import { controlsOf, type EventFeed, type EventFeedOptions, eventOf, streamOptions } from './event-feed.js';
import { FeedConnection } from './feed-connection.js';

/** Records the order book stream (part 6.1) of the events that are added. */
export class OrderBookFeed implements EventFeed {
  readonly #pool: ConnectionPool<FeedConnection>;

  constructor(private readonly options: EventFeedOptions) {
    this.#pool = new ConnectionPool(options.subscriptionsPerConnection, () => this.#connect());
  }

  add(eventId: string, marketIds: readonly string[]): void {
    if (!this.#pool.get(eventId)) this.#pool.assign(eventId).add(eventId, marketIds);
  }

  remove(eventId: string, cause: string): void {
    this.#pool.get(eventId)?.remove(eventId, cause);
    this.#pool.release(eventId);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #connect(): FeedConnection {
    const stream = new OrderBookStream(
      streamOptions<OrderBookMessage>(this.options, {
        connection: () => connection,
        keyOf: (frame) => eventOf(frame, connection),
        onMessage: (message, at) => onMessage(connection, message, at),
      }),
    );
    const connection: FeedConnection = new FeedConnection(this.options, {
      stream: 'order-book',
      kind: 'order-book.frame',
      maxProbes: 16,
      // Deltas and snapshots come in order.
      answerLagMicros: 0,
      subscribe: ({ eventId }) => stream.subscribe(eventId),
      resubscribe: ({ eventId }) => {
        stream.unsubscribe(eventId);
        stream.subscribe(eventId);
      },
      unsubscribe: ({ eventId }) => stream.unsubscribe(eventId),
      probe: ({ eventId }) => stream.requestData(eventId),
      ...controlsOf(stream),
    });
    stream.start();
    return connection;
  }
}

function onMessage({ monitor }: FeedConnection, message: OrderBookMessage, at: number): void {
  if (message.type === 'prices') {
    if (message.snapshot) {
      monitor.onState(message.eventId, new Map(message.prices.map((p) => [p.marketId, asText(p)])), at, true);
    } else {
      for (const price of message.prices) monitor.onChange(message.eventId, price.marketId, asText(price), at);
    }
  } else if (message.type === 'error' && message.eventId !== null) {
    monitor.onRefused(message.eventId);
  }
}

const asText = ({ chance, bestBid, bestAsk }: PriceEntry): string => `${chance} ${bestBid} ${bestAsk}`;
