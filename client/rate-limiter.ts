import PQueue from 'p-queue';
import type { Clock } from '../core/index.js';

export interface RateLimiterOptions {
  /** Requests per second at the full rate. */
  readonly requestsPerSecond: number;
  /** Maximum number of requests at the same time. */
  readonly concurrency: number;
  readonly clock: Clock;
}

/** The rate grows by this share of the full rate per second without a 429. */
const RECOVERY_PER_SECOND = 0.05;
/** The rate never falls below this share of the full rate. */
const MIN_SHARE = 1 / 64;

/**
 * Limits the requests to one host: evenly spaced, a bounded number at once. A 429 halves the rate and delays all
 * requests for as long as the host requires; then the rate grows back to the full rate.
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
    this.#recover();
    return this.#rate;
  }

  /** Number of requests that wait or have been sent. */
  get pending(): number {
    return this.#queue.size + this.#queue.pending;
  }

  /** Runs `work` when the rate allows; `work` gets its start time, for `slowDown`. Rejects with the signal's reason. */
  run<T>(work: (startedAtMs: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#queue.add(
      async () => {
        await this.#wait(signal);
        return work(this.#clock.nowMs());
      },
      signal ? { signal } : {},
    );
  }

  /**
   * The host responded with 429. Responses to requests that started before the last halving do not halve again: they
   * are about the former rate.
   */
  slowDown(startedAtMs: number, retryAfterMs: number | undefined): void {
    const now = this.#clock.nowMs();
    if (retryAfterMs !== undefined) this.#notBeforeMs = Math.max(this.#notBeforeMs, now + retryAfterMs);
    if (startedAtMs < this.#slowedAtMs) return;
    this.#recover();
    this.#rate = Math.max(this.#full * MIN_SHARE, this.#rate / 2);
    this.#slowedAtMs = now;
    // The rate does not grow while no request may be sent.
    this.#rateAtMs = Math.max(now, this.#notBeforeMs);
    this.#nextAtMs = Math.max(this.#nextAtMs, now + 1000 / this.#rate);
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const waitMs = Math.max(this.#nextAtMs, this.#notBeforeMs) - this.#clock.nowMs();
      if (waitMs <= 0) break;
      await this.#clock.sleep(waitMs, signal);
    }
    this.#recover();
    this.#nextAtMs = Math.max(this.#nextAtMs, this.#clock.nowMs()) + 1000 / this.#rate;
  }

  #recover(): void {
    const now = this.#clock.nowMs();
    if (now <= this.#rateAtMs) return;
    const grown = this.#rate + (this.#full * RECOVERY_PER_SECOND * (now - this.#rateAtMs)) / 1000;
    this.#rate = Math.min(this.#full, grown);
    this.#rateAtMs = now;
  }
}
