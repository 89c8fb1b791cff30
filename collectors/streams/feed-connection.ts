import type { ConnectedEvent, ConnectFailedEvent, DisconnectedEvent, StreamFrame } from '../../client/index.js';
import type { StreamRequest } from '../../core/index.js';
import type { ConnectionState, FeedParts, FeedProtocol } from './feed-protocol.js';
import { Subscription } from './subscription.js';
import { SubscriptionMonitor } from './subscription-monitor.js';

/** One connection of a feed: publishes its frames, writes its state changes as collector events, monitors its subscriptions. */
export class FeedConnection implements ConnectionState {
  readonly subscriptions = new Map<string, Subscription>();
  readonly monitor: SubscriptionMonitor;
  connectionId: string | undefined;
  receivedAt = 0;
  paused = false;
  #requestJson = '{}';

  constructor(
    private readonly parts: FeedParts,
    private readonly protocol: FeedProtocol,
  ) {
    this.monitor = new SubscriptionMonitor(parts, protocol, this);
  }

  get size(): number {
    return this.subscriptions.size;
  }

  /** Subscribes to an event, or to more of its markets. */
  add(eventId: string, marketIds: readonly string[]): void {
    const existing = this.subscriptions.get(eventId);
    const subscription = existing ?? new Subscription(eventId, marketIds, this.parts.clock.nowMicros());
    subscription.marketIds = marketIds;
    this.subscriptions.set(eventId, subscription);
    this.protocol.subscribe(subscription);
    if (!existing) this.parts.metrics.subscriptions.inc({ stream: this.protocol.stream });
  }

  remove(eventId: string, cause: string): void {
    const subscription = this.subscriptions.get(eventId);
    if (!subscription) return;
    const { connectionId } = this;
    const { stream } = this.protocol;
    this.subscriptions.delete(eventId);
    this.protocol.unsubscribe(subscription);
    this.parts.metrics.subscriptions.dec({ stream });
    if (connectionId === undefined) return;
    void this.parts.collectorEvents.write({ type: 'unsubscribed', stream, connectionId, event: eventId, cause });
  }

  async close(): Promise<void> {
    this.monitor.stop();
    await this.protocol.close();
    this.parts.metrics.subscriptions.dec({ stream: this.protocol.stream }, this.size);
  }

  /** Publishes every frame, whatever it contains. While the publisher's queue is full, nothing more is read. */
  onFrame(frame: StreamFrame, key: string): void {
    const { publisher, metrics } = this.parts;
    const { stream, kind } = this.protocol;
    const { receivedAtMicros: receivedAt, bodyJson, encoding } = frame;
    this.receivedAt = receivedAt;
    metrics.frames.inc({ stream });
    metrics.frameBytes.inc({ stream }, frame.data.length);
    if (publisher.push({ kind, key, receivedAt, requestJson: this.#requestJson, bodyJson, encoding }) || this.paused)
      return;
    this.paused = true;
    this.protocol.pause();
    void publisher.whenWritable().then(() => {
      this.paused = false;
      this.protocol.resume();
    });
  }

  onConnected({ connectionId, url, atMicros }: ConnectedEvent): void {
    const { stream, account } = this.protocol;
    this.connectionId = connectionId;
    const request: StreamRequest = { stream, connection: connectionId, ...(account === undefined ? {} : { account }) };
    this.#requestJson = JSON.stringify(request);
    this.receivedAt = atMicros;
    this.parts.outage.succeeded();
    this.parts.metrics.connections.inc({ stream });
    for (const subscription of this.subscriptions.values()) subscription.request(atMicros);
    void this.parts.collectorEvents.write({ type: 'connected', stream, connectionId, url }, atMicros);
  }

  onDisconnected({ connectionId, completeUntilMicros, cause }: DisconnectedEvent): void {
    const { stream } = this.protocol;
    this.connectionId = undefined;
    for (const subscription of this.subscriptions.values()) subscription.invalidate();
    this.parts.metrics.connections.dec({ stream });
    this.parts.metrics.reconnects.inc({ stream });
    void this.parts.collectorEvents.write({ type: 'disconnected', stream, connectionId, cause }, completeUntilMicros);
  }

  onConnectFailed({ error }: ConnectFailedEvent): void {
    this.parts.outage.failed(error.message);
  }
}
