import { type Clock, systemClock } from './clock.js';
import type { Logger } from './log.js';

/** Interval at which a lasting outage is logged again, milliseconds. */
const REMINDER_INTERVAL_MS = 60_000;

/** Logs a series of failures as one line, a reminder every minute, and one line on recovery. */
export class OutageLog {
  #since: number | undefined;
  #loggedAt = 0;
  #failures = 0;

  /** @param recovered the message on recovery */
  constructor(
    private readonly log: Logger,
    private readonly recovered: string,
    private readonly clock: Clock = systemClock,
  ) {}

  failed(line: string): void {
    const now = this.clock.elapsedMs();
    this.#since ??= now;
    this.#failures += 1;
    if (this.#failures > 1 && now - this.#loggedAt < REMINDER_INTERVAL_MS) return;
    this.#loggedAt = now;
    this.log.warn({ failures: this.#failures }, `${line}; retrying until it works`);
  }

  /** @param startedAtMs start of the operation, `Clock.elapsedMs`; one that started before the outage does not end it */
  succeeded(startedAtMs = this.clock.elapsedMs()): void {
    if (this.#since === undefined || startedAtMs < this.#since) return;
    const seconds = Math.round((this.clock.elapsedMs() - this.#since) / 100) / 10;
    this.log.info({ failures: this.#failures, seconds }, this.recovered);
    this.#since = undefined;
    this.#failures = 0;
  }
}
