import { type OrderStreamMessage, OrderUpdateStream, type StreamFrame } from '../../client/index.js';
import { HeartbeatMonitor } from './heartbeat-monitor.js';
import { PrivateFeed, type PrivateFeedOptions } from './private-feed.js';

export interface OrderUpdatesFeedOptions extends PrivateFeedOptions {
  /** Called when the stream reported a TP/SL order of the asset. */
  readonly onTpsl: (assetId: string) => void;
}

/** Records the order updates stream of an account (part 6.3), which is verified by its heartbeats. */
export class OrderUpdatesFeed {
  readonly #feed: PrivateFeed;
  readonly #stream: OrderUpdateStream;
  readonly #heartbeats: HeartbeatMonitor;

  constructor(private readonly options: OrderUpdatesFeedOptions) {
    const about = { stream: 'orders', answerLagMicros: 0 } as const;
    this.#feed = new PrivateFeed(options, about, () => this.#stream);
    const { handlers } = this.#feed;
    this.#stream = new OrderUpdateStream({
      ...handlers,
      onMessage: (message, frame) => this.#take(message, frame),
      onConnected: (event) => {
        this.#heartbeats.start(event.atMicros);
        handlers.onConnected(event);
      },
      onDisconnected: (event) => {
        this.#heartbeats.stop();
        handlers.onDisconnected(event);
      },
    });
    this.#heartbeats = new HeartbeatMonitor(options.clock, options.settings.silenceMs, (cause) => {
      // Heartbeats may be buffered in the socket.
      if (this.#feed.connection.paused) return false;
      this.#feed.connection.monitor.reportAllStale(cause);
      this.#stream.reconnect(cause);
      return true;
    });
  }

  start(): void {
    this.#feed.start();
  }

  close(): Promise<void> {
    this.#heartbeats.stop();
    return this.#feed.close();
  }

  #take(message: OrderStreamMessage, frame: StreamFrame): void {
    const at = frame.receivedAtMicros;
    this.#heartbeats.onFrame(at);
    this.#feed.connection.monitor.onActivity(this.options.account, at);
    if (message.type === 'ping') this.#heartbeats.onHeartbeat(at);
    else if (message.type === 'authorized') this.#feed.authorized(new Map(), at);
    else {
      this.#feed.onChangeFrame(frame);
      if (message.type === 'tpsl-update' && message.assetId !== null) this.options.onTpsl(message.assetId);
    }
  }
}
