import type { Logger } from './log.js';

/** How often a lasting outage is logged again, milliseconds. */
const REMIND_MS = 60_000;

/** Logs a series of failures as one line, a reminder every minute, and one line when it is over. */
export class OutageLog {
  #since: number | undefined;
  #loggedAt = 0;
  #failures = 0;

  /** @param recovered the message when it works again */
  constructor(
    private readonly log: Logger,
    private readonly recovered: string,
  ) {}

  failed(line: string): void {
    const now = performance.now();
    this.#since ??= now;
    this.#failures += 1;
    if (this.#failures > 1 && now - this.#loggedAt < REMIND_MS) return;
    this.#loggedAt = now;
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
