import type { Logger } from './log.js';

/** How often a lasting outage is mentioned again, milliseconds. */
const REMIND_MS = 60_000;

/** Turns a row of failures into one clear line, a reminder now and then, and one line when it is over. */
export class OutageLog {
  #since: number | undefined;
  #saidAt = 0;
  #failures = 0;

  /** @param recovered what to say when it works again */
  constructor(
    private readonly log: Logger,
    private readonly recovered: string,
  ) {}

  failed(line: string): void {
    const now = performance.now();
    this.#since ??= now;
    this.#failures += 1;
    if (this.#failures > 1 && now - this.#saidAt < REMIND_MS) return;
    this.#saidAt = now;
    this.log.warn({ failures: this.#failures }, `${line}; it is tried again until it works`);
  }

  /** @param begunAt by performance.now(): what was begun before the outage does not show that it is over */
  succeeded(begunAt = performance.now()): void {
    if (this.#since === undefined || begunAt < this.#since) return;
    const seconds = Math.round((performance.now() - this.#since) / 100) / 10;
    this.log.info({ failures: this.#failures, seconds }, this.recovered);
    this.#since = undefined;
    this.#failures = 0;
  }
}
