import { setImmediate } from 'node:timers/promises';

/** Keeps long work from holding the event loop: `pause` lets everything else run once a slice of time is used up. */
export class Breather {
  #sliceStart = performance.now();

  constructor(private readonly sliceMs = 8) {}

  async pause(): Promise<void> {
    if (performance.now() - this.#sliceStart < this.sliceMs) return;
    await setImmediate();
    this.#sliceStart = performance.now();
  }
}
