import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../core/index.js';
import { START } from './engine-rig.js';

interface Sleeper {
  readonly due: number;
  readonly order: number;
  readonly wake: () => void;
}

/** Time that passes only while `run` runs, as fast as the sleepers allow; they wake in the order of their times. */
export class VirtualClock implements Clock {
  #micros = START;
  #sleepers: Sleeper[] = [];
  #order = 0;

  nowMicros(): number {
    return this.#micros;
  }

  nowMs(): number {
    return this.#micros / 1000;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper = { due: this.#micros + Math.ceil(ms * 1000), order: this.#order++, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', onAbort);
    });
  }

  async run(seconds: number): Promise<void> {
    const end = this.#micros + seconds * 1e6;
    for (;;) {
      await setImmediate();
      const [next] = this.#sleepers.sort((a, b) => a.due - b.due || a.order - b.order);
      if (!next || next.due > end) break;
      this.#sleepers.shift();
      this.#micros = Math.max(this.#micros, next.due);
      next.wake();
    }
    this.#micros = end;
  }
}
