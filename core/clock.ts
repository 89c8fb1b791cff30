import { setTimeout as delay } from 'node:timers/promises';

/** The one source of time and of waiting; tests pass a fake. */
export interface Clock {
  /** Unix time in whole microseconds. Never goes back within one process. */
  nowMicros(): number;
  /** Unix time in milliseconds. */
  nowMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Wall clock read once, then carried by the monotonic clock and re-anchored when the two drift apart by over 5 ms. */
class SystemClock implements Clock {
  #anchorWallMicros = Date.now() * 1000;
  #anchorMono = performance.now();
  #last = 0;

  nowMicros(): number {
    const mono = performance.now();
    let micros = this.#anchorWallMicros + Math.floor((mono - this.#anchorMono) * 1000);
    const wall = Date.now() * 1000;
    if (Math.abs(wall - micros) > 5000) {
      this.#anchorWallMicros = wall;
      this.#anchorMono = mono;
      micros = wall;
    }
    if (micros < this.#last) micros = this.#last;
    this.#last = micros;
    return micros;
  }

  nowMs(): number {
    return this.nowMicros() / 1000;
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
