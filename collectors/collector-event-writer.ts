import type { Clock, CollectorEvent } from '../core/index.js';
import type { Publisher } from './publisher.js';

/** Interval between heartbeats, milliseconds: less than a second, with the time of an append. */
const HEARTBEAT_MS = 800;

/** Publishes collector events; the events of a session stay in order. */
export class CollectorEventWriter {
  /** Until when each open connection is complete: the time of its last frame, of its opening, or one that a poll has verified. */
  readonly #lastFrames = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #pending = false;

  constructor(
    private readonly publisher: Publisher,
    private readonly clock: Clock,
  ) {}

  /** Resolves when the event is durable. @param at its time, Unix microseconds; default now */
  write(event: CollectorEvent, at: number = this.clock.nowMicros()): Promise<void> {
    if (event.type === 'connected') this.#lastFrames.set(event.connectionId, at);
    else if (event.type === 'disconnected') this.#lastFrames.delete(event.connectionId);
    return this.publisher.publish({
      kind: 'collector.event',
      key: this.publisher.sessionId,
      receivedAt: at,
      requestJson: '{}',
      bodyJson: JSON.stringify(event),
    });
  }

  /** Call with each frame of an open connection, and when a poll has verified it: heartbeats have the latest `completeUntil`. */
  onComplete(connectionId: string, completeUntil: number): void {
    const before = this.#lastFrames.get(connectionId);
    if (before !== undefined && before < completeUntil) this.#lastFrames.set(connectionId, completeUntil);
  }

  /** Starts writing heartbeats; none is written while the bus accepts no records. */
  startHeartbeat(): void {
    this.#timer = setInterval(() => {
      if (this.#pending) return;
      this.#pending = true;
      void this.heartbeat().then(() => {
        this.#pending = false;
      });
    }, HEARTBEAT_MS);
  }

  stopHeartbeat(): void {
    clearInterval(this.#timer);
  }

  /** Writes one heartbeat; resolves when it and everything before it are durable. */
  heartbeat(): Promise<void> {
    const { acknowledged, watermark } = this.publisher;
    return this.write({ type: 'heartbeat', acknowledged, lastFrames: Object.fromEntries(this.#lastFrames) }, watermark);
  }
}
