import { setImmediate } from 'node:timers/promises';

/** Splits long work into time slices, so that it does not block the event loop for longer than one. */
export class TimeSlice {
  #startedAt = performance.now();

  constructor(private readonly sliceMs = 8) {}

  /** Yields to the event loop when the slice is used up, and begins the next one. */
  async yieldWhenOver(): Promise<void> {
    if (performance.now() - this.#startedAt < this.sliceMs) return;
    await setImmediate();
    this.#startedAt = performance.now();
  }
}
