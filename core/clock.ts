import { setTimeout as delay } from 'node:timers/promises';

/** The only source of time and delays; tests pass a fake. */
export interface Clock {
  /** Unix time in whole microseconds. Never goes back within one process. */
  nowMicros(): number;
  /** Unix time in milliseconds. */
  nowMs(): number;
  /** Milliseconds since an arbitrary moment, unaffected by changes of the system's time: for durations and deadlines. */
  elapsedMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Rate of our time, relative to real time, after the system's time was set back and until it is reached again. */
const CATCH_UP_RATE = 0.5;

/** Wall clock read once, then carried by the monotonic clock and re-anchored when the two drift apart by over 5 ms. */
export class SystemClock implements Clock {
  #anchorWallMicros: number;
  #anchorMono: number;
  #last = 0;
  #lastMono = 0;

  /**
   * @param wallMs the system's time, Unix milliseconds
   * @param monoMs a monotonic time, milliseconds
   */
  constructor(
    private readonly wallMs: () => number = Date.now,
    private readonly monoMs: () => number = () => performance.now(),
  ) {
    this.#anchorWallMicros = wallMs() * 1000;
    this.#anchorMono = monoMs();
  }

  nowMicros(): number {
    const mono = this.monoMs();
    let micros = this.#anchorWallMicros + Math.floor((mono - this.#anchorMono) * 1000);
    const wall = this.wallMs() * 1000;
    if (Math.abs(wall - micros) > 5000) {
      this.#anchorWallMicros = wall;
      this.#anchorMono = mono;
      micros = wall;
    }
    if (micros < this.#last) {
      micros = this.#last + Math.floor((mono - this.#lastMono) * 1000 * CATCH_UP_RATE);
      // Less than a microsecond is counted later.
      if (micros === this.#last) return micros;
    }
    this.#last = micros;
    this.#lastMono = mono;
    return micros;
  }

  nowMs(): number {
    return this.nowMicros() / 1000;
  }

  elapsedMs(): number {
    return this.monoMs();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    try {
      await delay(ms, undefined, signal ? { signal } : undefined);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw error;
    }
  }
}

export const systemClock: Clock = new SystemClock();
