import { type OrderStreamMessage, OrderUpdateStream } from '../../client/index.js';
import { HeartbeatWatch } from './heartbeat-monitor.js';
import { PrivateFeed, type PrivateFeedOptions } from './private-feed.js';

export interface OrderUpdatesFeedOptions extends PrivateFeedOptions {
  /** The stream spoke of a TP/SL order of the asset. */
  readonly onTpsl: (assetId: string) => void;
}

/** Records the order updates stream of an account (part 6.3), whose heartbeat is its proof of life. */
export class OrderUpdatesFeed {
  readonly #feed: PrivateFeed;
  readonly #stream: OrderUpdateStream;
  readonly #watch: HeartbeatWatch;

  constructor(private readonly options: OrderUpdatesFeedOptions) {
    const about = { stream: 'orders', kind: 'account.order-frame', settleMicros: 0 } as const;
    this.#feed = new PrivateFeed(options, about, () => this.#stream);
    const { handlers } = this.#feed;
    this.#stream = new OrderUpdateStream({
      ...handlers,
      onMessage: (message, { receivedAtMicros }) => this.#take(message, receivedAtMicros),
      onConnected: (event) => {
        this.#watch.begin(event.atMicros);
        handlers.onConnected(event);
      },
      onDisconnected: (event) => {
        this.#watch.end();
        handlers.onDisconnected(event);
      },
    });
    this.#watch = new HeartbeatWatch(options.clock, options.silenceMs, (cause) => {
      // While nothing is read, nothing can be heard.
      if (this.#feed.connection.paused) return false;
      this.#feed.connection.health.freezeAll(cause);
      this.#stream.recycle(cause);
      return true;
    });
  }

  start(): void {
    this.#feed.start();
  }

  close(): Promise<void> {
    this.#watch.end();
    return this.#feed.close();
  }

  #take(message: OrderStreamMessage, at: number): void {
    this.#watch.heard(at);
    this.#feed.connection.health.onLife(this.options.account, at);
    if (message.type === 'ping') this.#watch.ping(at);
    else if (message.type === 'authorized') this.#feed.authorized(new Map(), at);
    else if (message.type === 'tpsl-update' && message.assetId !== null) this.options.onTpsl(message.assetId);
  }
}
