import type { Clock } from '../../core/index.js';
import { after } from './timer.js';

const CHECK_MS = 100;
/** A check that is later than this finds that the process was stopped or busy. */
const MAX_CHECK_MS = 300;

/**
 * Whether frames of a connection may have waited before they were read: while reading was paused, or while the process was
 * stopped or busy. Their time of receipt then does not say when they were sent. A delay ends with the pong of a ping that was
 * sent after it, because the pong follows everything that was sent before it.
 */
export class ReceiveDelay {
  #cancel: () => void;
  #checkedAtMs: number;
  #active = false;
  #count = 0;
  #pings = 0;
  #paused = false;

  /** @param ping sends a ping with this payload, if the socket is open */
  constructor(
    private readonly clock: Clock,
    private readonly ping: (payload: string) => void,
  ) {
    this.#checkedAtMs = clock.elapsedMs();
    this.#cancel = after(clock, CHECK_MS, () => this.#checkAgain());
  }

  /** As of the last call of `check`. */
  get active(): boolean {
    return this.#active;
  }

  /** Number of pauses and stops so far. */
  get count(): number {
    return this.#count;
  }

  /** Call before each frame is processed: after a stop of the process, frames may be read before timers run. */
  check(): void {
    const nowMs = this.clock.elapsedMs();
    const late = nowMs - this.#checkedAtMs > MAX_CHECK_MS;
    this.#checkedAtMs = nowMs;
    if (!late) return;
    this.#begin();
    if (!this.#paused) this.#sendPing();
  }

  pause(): void {
    this.#paused = true;
    this.#begin();
  }

  resume(): void {
    this.#paused = false;
    this.#sendPing();
  }

  onPong(payload: string): void {
    if (!this.#paused && payload === `${this.#pings}`) this.#active = false;
  }

  stop(): void {
    this.#cancel();
  }

  #checkAgain(): void {
    this.check();
    this.#cancel = after(this.clock, CHECK_MS, () => this.#checkAgain());
  }

  #begin(): void {
    this.#active = true;
    this.#count += 1;
  }

  #sendPing(): void {
    this.#pings += 1;
    this.ping(`${this.#pings}`);
  }
}
