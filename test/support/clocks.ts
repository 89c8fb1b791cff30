import { setImmediate } from 'node:timers/promises';
import { type Clock, systemClock } from '../../core/index.js';

/** 2026-01-01T00:00:00Z */
export const START = 1_767_225_600_000_000;

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A clock that only the test advances; nothing waits in real time. */
export class ManualClock implements Clock {
  #sleepers: Sleeper[] = [];

  /** @param micros Unix microseconds; setting them wakes no sleeper */
  constructor(public micros = START) {}

  /** How many sleep. */
  get sleepers(): number {
    return this.#sleepers.length;
  }

  nowMicros(): number {
    return this.micros;
  }

  nowMs(): number {
    return this.micros / 1000;
  }

  elapsedMs(): number {
    return this.micros / 1000;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper = { due: this.micros + Math.ceil(ms * 1000), wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', onAbort);
    });
  }

  /** Advances by `ms`, and wakes the sleepers in the order of their times, each at its own. */
  async advance(ms: number): Promise<void> {
    const end = this.micros + ms * 1000;
    for (;;) {
      // Promises that can continue do so; what they start may sleep again.
      await setImmediate();
      const [next] = this.#sleepers.sort((a, b) => a.due - b.due);
      if (!next || next.due > end) break;
      this.#sleepers.shift();
      this.micros = Math.max(this.micros, next.due);
      next.wake();
    }
    this.micros = end;
    await setImmediate();
  }
}

/** The system's clock, set forward by whole seconds. */
export class ShiftedClock implements Clock {
  constructor(public seconds = 0) {}

  nowMicros(): number {
    return systemClock.nowMicros() + this.seconds * 1e6;
  }

  nowMs(): number {
    return this.nowMicros() / 1000;
  }

  elapsedMs(): number {
    return this.nowMs();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }
}

/** The system's clock for a process that was stopped: time has elapsed that its timers did not see. */
export class ResumedClock extends ShiftedClock {
  stoppedMs = 0;

  override elapsedMs(): number {
    return systemClock.elapsedMs() + this.stoppedMs;
  }
}

/** Constant except for the seconds by which it is advanced; sleepers sleep in real time. */
export class StillClock extends ShiftedClock {
  readonly #micros = systemClock.nowMicros();

  override nowMicros(): number {
    return this.#micros + this.seconds * 1e6;
  }
}
