import type { Clock, Mark } from '../core/index.js';
import type { Publisher } from './publisher.js';

/** How often a session says that it lives, milliseconds: with the way to the bus, more than once a second. */
const ALIVE_MS = 800;

/** Writes what the collector knows about its own sight; marks of a session stay in order. */
export class Marks {
  #timer: NodeJS.Timeout | undefined;
  #pending = false;

  constructor(
    private readonly publisher: Publisher,
    private readonly clock: Clock,
  ) {}

  /** @param at the moment that the mark speaks of, Unix microseconds; now when it is not given */
  write(mark: Mark, at: number = this.clock.nowMicros()): Promise<void> {
    const { sid } = this.publisher;
    return this.publisher.publish({ kind: 'mark', key: sid, at, reqJson: '{}', bodyJson: JSON.stringify(mark) });
  }

  /** Says from now on, at least every second, up to when everything received is durable. Silent while the bus takes nothing. */
  startAlive(): void {
    this.#timer = setInterval(() => {
      if (this.#pending) return;
      this.#pending = true;
      void this.alive().then(() => {
        this.#pending = false;
      });
    }, ALIVE_MS);
  }

  stopAlive(): void {
    clearInterval(this.#timer);
  }

  /** Says so now; resolves when that, and everything before it, is durable. */
  alive(): Promise<void> {
    return this.write({ type: 'alive', acked: this.publisher.acked }, this.publisher.watermark);
  }
}
