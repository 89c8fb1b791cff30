import PQueue from 'p-queue';
import type { Clock } from '../core/index.js';

export interface RateLimiterOptions {
  /** Requests per second at full speed. */
  readonly requestsPerSecond: number;
  /** Requests under way at once. */
  readonly concurrency: number;
  readonly clock: Clock;
}

/** Share of the full rate that the rate grows by in a second without a 429. */
const CREEP_PER_SECOND = 0.05;
/** The rate never falls below this share of the full one. */
const FLOOR = 1 / 64;

/**
 * Paces the requests to one host: evenly spaced, a bounded number at once. A 429 halves the rate and keeps everybody
 * waiting as long as the host asked for; then the rate creeps back to full speed.
 */
export class RateLimiter {
  readonly #queue: PQueue;
  readonly #full: number;
  readonly #clock: Clock;
  #rate: number;
  #rateAtMs: number;
  #nextAtMs = 0;
  #notBeforeMs = 0;
  #slowedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RateLimiterOptions) {
    this.#queue = new PQueue({ concurrency: options.concurrency });
    this.#full = options.requestsPerSecond;
    this.#rate = options.requestsPerSecond;
    this.#clock = options.clock;
    this.#rateAtMs = options.clock.nowMs();
  }

  /** Requests per second at this moment. */
  get rate(): number {
    this.#creep();
    return this.#rate;
  }

  /** Requests that wait for their turn or are under way. */
  get pending(): number {
    return this.#queue.size + this.#queue.pending;
  }

  /** Runs `work` when it is its turn; it is told when it started, for `slowDown`. Rejects with the signal's reason. */
  run<T>(work: (startedAtMs: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#queue.add(
      async () => {
        await this.#turn(signal);
        return work(this.#clock.nowMs());
      },
      signal ? { signal } : {},
    );
  }

  /**
   * The host answered 429. Answers to requests that started before the last halving do not halve again: they say the
   * same thing.
   */
  slowDown(startedAtMs: number, retryAfterMs: number | undefined): void {
    const now = this.#clock.nowMs();
    if (retryAfterMs !== undefined) this.#notBeforeMs = Math.max(this.#notBeforeMs, now + retryAfterMs);
    if (startedAtMs < this.#slowedAtMs) return;
    this.#creep();
    this.#rate = Math.max(this.#full * FLOOR, this.#rate / 2);
    this.#slowedAtMs = now;
    // Only time in which requests may be sent lets the rate grow again.
    this.#rateAtMs = Math.max(now, this.#notBeforeMs);
    this.#nextAtMs = Math.max(this.#nextAtMs, now + 1000 / this.#rate);
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const waitMs = Math.max(this.#nextAtMs, this.#notBeforeMs) - this.#clock.nowMs();
      if (waitMs <= 0) break;
      await this.#clock.sleep(waitMs, signal);
    }
    this.#creep();
    this.#nextAtMs = Math.max(this.#nextAtMs, this.#clock.nowMs()) + 1000 / this.#rate;
  }

  #creep(): void {
    const now = this.#clock.nowMs();
    if (now <= this.#rateAtMs) return;
    const grown = this.#rate + (this.#full * CREEP_PER_SECOND * (now - this.#rateAtMs)) / 1000;
    this.#rate = Math.min(this.#full, grown);
    this.#rateAtMs = now;
  }
}
