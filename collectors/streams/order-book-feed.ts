import { type OrderBookMessage, OrderBookStream, type PriceEntry, type StreamFrame } from '../../client/index.js';
import type { AuditedPrices } from '../../core/index.js';
import { AuditSchedule } from './audit-schedule.js';
import { ConnectionPool } from './connection-pool.js';
import { controlsOf, type EventFeed, type EventFeedOptions, eventOf, streamOptions } from './event-feed.js';
import { FeedConnection } from './feed-connection.js';

/** Records the order book stream (part 6.1) of the events that are added, and audits them. */
export class OrderBookFeed implements EventFeed {
  readonly #pool: ConnectionPool<FeedConnection>;
  readonly #schedule: AuditSchedule;

  constructor(private readonly options: EventFeedOptions) {
    const { clock, metrics, settings } = options;
    this.#pool = new ConnectionPool(settings.subscriptionsPerConnection, () => this.#connect());
    this.#schedule = new AuditSchedule({ clock, metrics, auditsPerSecond: settings.auditsPerSecond });
  }

  add(eventId: string, marketIds: readonly string[]): void {
    if (!this.#pool.get(eventId)) this.#pool.assign(eventId).add(eventId, marketIds);
  }

  remove(eventId: string, cause: string): void {
    this.#pool.get(eventId)?.remove(eventId, cause);
    this.#pool.release(eventId);
    this.#schedule.forget(eventId);
  }

  /** Audits the event as soon as the rate of audits allows. */
  auditSoon(eventId: string): void {
    const subscription = this.#pool.get(eventId)?.subscriptions.get(eventId);
    if (subscription) subscription.suspect = true;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #connect(): FeedConnection {
    const stream = new OrderBookStream(
      streamOptions<OrderBookMessage>(this.options, {
        connection: () => connection,
        onMessage: (message, frame) => this.#onMessage(connection, message, frame),
      }),
    );
    const connection: FeedConnection = new FeedConnection(this.options, {
      stream: 'order-book',
      maxProbes: 16,
      // Deltas and snapshots arrive in order.
      answerLagMicros: 0,
      audits: { schedule: this.#schedule, pricesOf },
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

  /** Every frame is one message, also a frame that cannot be decoded. */
  #onMessage(connection: FeedConnection, message: OrderBookMessage, frame: StreamFrame): void {
    const { monitor } = connection;
    const { receivedAtMicros: at } = frame;
    let repeated: number[] | undefined;
    if (message.type === 'prices' && !message.snapshot) {
      let entry = 0;
      for (const price of message.prices) {
        if (monitor.onChange(message.eventId, price.marketId, asText(price), at)) {
          repeated ??= [];
          repeated.push(entry);
        }
        entry += 1;
      }
    }
    connection.onFrame(frame, eventOf(frame, connection), repeated && { repeated });
    if (message.type === 'prices') {
      const { eventId, prices, snapshot } = message;
      if (snapshot) monitor.onState(eventId, new Map(prices.map((p) => [p.marketId, asText(p)])), at, true);
      else monitor.onWaited(eventId, frame);
      for (const { marketId, chance } of prices) this.options.onPrice?.(eventId, marketId, chance);
    } else if (message.type === 'error' && message.eventId !== null) {
      monitor.onRefused(message.eventId);
    }
  }
}

const asText = ({ chance, bestBid, bestAsk }: PriceEntry): string => `${chance} ${bestBid} ${bestAsk}`;

function pricesOf(value: string): AuditedPrices {
  const [last = 0, bid = 0, ask = 0] = value.split(' ').map(Number);
  return { last, bid, ask };
}
