import type { Clock, CollectorEvent } from '../core/index.js';
import type { Publisher } from './publisher.js';

/** How often a session says that it lives, milliseconds: with the way to the bus, more than once a second. */
const HEARTBEAT_MS = 800;

/** Writes collector events; those of a session stay in order. */
export class CollectorEventWriter {
  #timer: NodeJS.Timeout | undefined;
  #pending = false;

  constructor(
    private readonly publisher: Publisher,
    private readonly clock: Clock,
  ) {}

  /** @param at the time that the event refers to, Unix microseconds; defaults to now */
  write(event: CollectorEvent, at: number = this.clock.nowMicros()): Promise<void> {
    const { sessionId } = this.publisher;
    return this.publisher.publish({
      kind: 'collector.event',
      key: sessionId,
      receivedAt: at,
      requestJson: '{}',
      bodyJson: JSON.stringify(event),
    });
  }

  /** Says from now on, at least every second, up to when everything received is durable. Silent while the bus takes nothing. */
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

  /** Says so now; resolves when that, and everything before it, is durable. */
  heartbeat(): Promise<void> {
    return this.write({ type: 'heartbeat', acknowledged: this.publisher.acknowledged }, this.publisher.watermark);
  }
}
