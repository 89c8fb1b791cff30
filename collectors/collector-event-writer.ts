import type { Clock, CollectorEvent } from '../core/index.js';
import type { Publisher } from './publisher.js';

/** Interval between heartbeats, milliseconds: less than a second, with the time of an append. */
const HEARTBEAT_MS = 800;

/** Publishes collector events; those of a session stay in order. */
export class CollectorEventWriter {
  #timer: NodeJS.Timeout | undefined;
  #pending = false;

  constructor(
    private readonly publisher: Publisher,
    private readonly clock: Clock,
  ) {}

  /** Resolves when the event is durable. @param at the time that it refers to, Unix microseconds; default now */
  write(event: CollectorEvent, at: number = this.clock.nowMicros()): Promise<void> {
    return this.publisher.publish({
      kind: 'collector.event',
      key: this.publisher.sessionId,
      receivedAt: at,
      requestJson: '{}',
      bodyJson: JSON.stringify(event),
    });
  }

  /** Writes heartbeats from now on, none while the bus accepts no records. */
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

  /** Writes one heartbeat; resolves when it is durable, and everything before it. */
  heartbeat(): Promise<void> {
    return this.write({ type: 'heartbeat', acknowledged: this.publisher.acknowledged }, this.publisher.watermark);
  }
}
