import type { ConnectedEvent, ConnectFailedEvent, DisconnectedEvent, StreamFrame } from '../../client/index.js';
import { FRAME_TOO_LARGE, type RecordKind, STREAM_KINDS, type StreamRequest } from '../../core/index.js';
import type { ConnectionState, FeedParts, FeedProtocol } from './feed-protocol.js';
import { oversizedRecord } from './oversized-record.js';
import { Subscription } from './subscription.js';
import { SubscriptionMonitor } from './subscription-monitor.js';

/** One connection of a feed: publishes frames, writes state changes as collector events, monitors its subscriptions. */
export class FeedConnection implements ConnectionState {
  readonly subscriptions = new Map<string, Subscription>();
  readonly monitor: SubscriptionMonitor;
  connectionId: string | undefined;
  receivedAt = 0;
  paused = false;
  /** Until when a poll has verified the connection, Unix microseconds; 0: never. */
  #verifiedUntil = 0;
  readonly #kind: RecordKind;
  #request: StreamRequest | undefined;
  #requestJson = '{}';

  constructor(
    private readonly parts: FeedParts,
    private readonly protocol: FeedProtocol,
  ) {
    this.#kind = STREAM_KINDS[protocol.stream];
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
    this.monitor.onEnd(subscription);
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

  /**
   * Publishes every frame, regardless of its content. While the publisher's queue is full, reading is paused.
   * @param details further fields of the frame's request
   */
  onFrame(frame: StreamFrame, key: string, details?: Partial<StreamRequest>): void {
    const { publisher, metrics, collectorEvents } = this.parts;
    const { stream } = this.protocol;
    const { receivedAtMicros: receivedAt, bodyJson, encoding } = frame;
    this.receivedAt = receivedAt;
    collectorEvents.onComplete(frame.connectionId, frame.completeUntilMicros);
    metrics.frames.inc({ stream });
    metrics.frameBytes.inc({ stream }, frame.data.length);
    const requestJson = details ? JSON.stringify({ ...this.#request, ...details }) : this.#requestJson;
    if (publisher.push({ kind: this.#kind, key, receivedAt, requestJson, bodyJson, encoding }) || this.paused) return;
    this.paused = true;
    this.protocol.pause();
    void publisher.whenWritable().then(() => {
      this.paused = false;
      this.protocol.resume();
    });
  }

  /** Call when a poll shows that the connection has missed nothing up to this time, Unix microseconds. */
  onVerified(untilMicros: number): void {
    if (this.connectionId === undefined) return;
    this.#verifiedUntil = untilMicros;
    this.parts.collectorEvents.onComplete(this.connectionId, untilMicros);
  }

  onConnected({ connectionId, url, atMicros }: ConnectedEvent): void {
    const { stream, account } = this.protocol;
    this.connectionId = connectionId;
    this.#verifiedUntil = 0;
    this.#request = { stream, connection: connectionId, ...(account === undefined ? {} : { account }) };
    this.#requestJson = JSON.stringify(this.#request);
    this.receivedAt = atMicros;
    this.parts.outage.succeeded();
    this.parts.metrics.connections.inc({ stream });
    for (const subscription of this.subscriptions.values()) subscription.request(atMicros);
    void this.parts.collectorEvents.write({ type: 'connected', stream, connectionId, url }, atMicros);
  }

  onDisconnected({ connectionId, completeUntilMicros, oversized, cause: why }: DisconnectedEvent): void {
    const { stream, account } = this.protocol;
    const cause = oversized ? FRAME_TOO_LARGE : why;
    if (oversized && this.#request) {
      const record = oversizedRecord(oversized, this.#request);
      this.parts.publisher.push({ kind: this.#kind, key: connectionId, ...record });
    }
    for (const subscription of this.subscriptions.values()) {
      this.monitor.onEnd(subscription);
      subscription.disconnect();
    }
    this.connectionId = undefined;
    this.parts.metrics.connections.dec({ stream });
    this.parts.metrics.disconnects.inc({ stream });
    // A connection that we close may be stale without our knowing it. On connections of accounts, hours of silence are usual.
    const until =
      account === undefined
        ? Math.min(completeUntilMicros, this.receivedAt)
        : Math.max(completeUntilMicros, this.#verifiedUntil);
    void this.parts.collectorEvents.write({ type: 'disconnected', stream, connectionId, cause }, until);
  }

  onConnectFailed({ error }: ConnectFailedEvent): void {
    this.parts.outage.failed(error.message);
  }
}
