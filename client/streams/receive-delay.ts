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
  #pausedAtMs = 0;
  #ms = 0;

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

  /** Milliseconds that a frame read now may have waited: how long the pauses and stops of this delay lasted; 0 without one. */
  get ms(): number {
    return this.#ms;
  }

  /** Number of pauses and stops so far. */
  get count(): number {
    return this.#count;
  }

  /** Call before each frame is processed: after a stop of the process, frames may be read before timers run. */
  check(): void {
    const nowMs = this.clock.elapsedMs();
    const sinceMs = nowMs - this.#checkedAtMs;
    this.#checkedAtMs = nowMs;
    if (sinceMs <= MAX_CHECK_MS) return;
    this.#begin();
    if (this.#paused) return;
    this.#ms += sinceMs;
    this.#sendPing();
  }

  pause(): void {
    if (!this.#paused) this.#pausedAtMs = this.clock.elapsedMs();
    this.#paused = true;
    this.#begin();
  }

  resume(): void {
    if (this.#paused) this.#ms += this.clock.elapsedMs() - this.#pausedAtMs;
    this.#paused = false;
    this.#sendPing();
  }

  onPong(payload: string): void {
    if (this.#paused || payload !== `${this.#pings}`) return;
    this.#active = false;
    this.#ms = 0;
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
