import type { Clock } from '../core/index.js';

export interface RateLimiterOptions {
  /** Requests per second at the full rate. */
  readonly requestsPerSecond: number;
  /** Maximum number of requests at the same time. */
  readonly concurrency: number;
  readonly clock: Clock;
}

/**
 * `high`: is sent before all `normal` requests that wait, but while both kinds wait, every second request is a `normal`
 * one. So each kind gets at least half of the rate when it needs it.
 */
export type RequestPriority = 'high' | 'normal';

/** The rate grows by this share of the full rate per second without a 429. */
const RECOVERY_PER_SECOND = 0.05;
/** The rate never falls below this share of the full rate. */
const MIN_SHARE = 1 / 64;

/**
 * Limits the requests to one host: evenly spaced, a bounded number at once. A 429 halves the rate and delays all
 * requests for as long as the host requires; then the rate grows back to the full rate.
 */
export class RateLimiter {
  /** Callbacks that start waiting requests, in the order of their arrival. */
  readonly #waiting: Readonly<Record<RequestPriority, Set<() => void>>> = { high: new Set(), normal: new Set() };
  readonly #concurrency: number;
  readonly #full: number;
  readonly #clock: Clock;
  #lastStarted: RequestPriority = 'normal';
  #running = 0;
  /** Ends the delay before the next request; undefined when none is being waited for. */
  #delay: AbortController | undefined;
  #rate: number;
  #rateAtMs: number;
  #nextAtMs = 0;
  #notBeforeMs = 0;
  #slowedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RateLimiterOptions) {
    this.#concurrency = options.concurrency;
    this.#full = options.requestsPerSecond;
    this.#rate = options.requestsPerSecond;
    this.#clock = options.clock;
    this.#rateAtMs = options.clock.elapsedMs();
  }

  /** Requests per second at this moment. */
  get rate(): number {
    this.#recover();
    return this.#rate;
  }

  /** Number of requests that wait or have been sent. */
  get pending(): number {
    return this.#waitingRequests + this.#running;
  }

  /** Runs `work` when the rate allows; `work` gets its start by `elapsedMs`, for `slowDown`. Rejects with the signal's reason. */
  async run<T>(
    work: (startedAtMs: number) => Promise<T>,
    signal?: AbortSignal,
    priority: RequestPriority = 'normal',
  ): Promise<T> {
    await this.#turn(signal, priority);
    try {
      return await work(this.#clock.elapsedMs());
    } finally {
      this.#running -= 1;
      this.#startNext();
    }
  }

  /**
   * The host responded with 429. Responses to requests that started before the last halving do not halve again: they
   * are about the former rate.
   */
  slowDown(startedAtMs: number, retryAfterMs: number | undefined): void {
    const now = this.#clock.elapsedMs();
    if (retryAfterMs !== undefined) this.#notBeforeMs = Math.max(this.#notBeforeMs, now + retryAfterMs);
    if (startedAtMs < this.#slowedAtMs) return;
    this.#recover();
    this.#rate = Math.max(this.#full * MIN_SHARE, this.#rate / 2);
    this.#slowedAtMs = now;
    // The rate does not grow while no request may be sent.
    this.#rateAtMs = Math.max(now, this.#notBeforeMs);
    this.#nextAtMs = Math.max(this.#nextAtMs, now + 1000 / this.#rate);
  }

  get #waitingRequests(): number {
    return this.#waiting.high.size + this.#waiting.normal.size;
  }

  /** Resolves when the request has been started. */
  #turn(signal: AbortSignal | undefined, priority: RequestPriority): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const requests = this.#waiting[priority];
      const onAbort = () => {
        requests.delete(start);
        if (this.#waitingRequests === 0) this.#delay?.abort();
        reject(signal?.reason);
      };
      const start = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      requests.add(start);
      this.#startNext();
    });
  }

  /** Starts the requests that may start now, and waits until the next one may. */
  #startNext(): void {
    if (this.#delay) return;
    while (this.#running < this.#concurrency && this.#waitingRequests > 0) {
      const waitMs = Math.max(this.#nextAtMs, this.#notBeforeMs) - this.#clock.elapsedMs();
      if (waitMs > 0) {
        void this.#startLater(waitMs);
        return;
      }
      this.#recover();
      this.#nextAtMs = Math.max(this.#nextAtMs, this.#clock.elapsedMs()) + 1000 / this.#rate;
      this.#startFirst();
    }
  }

  async #startLater(waitMs: number): Promise<void> {
    const delay = new AbortController();
    this.#delay = delay;
    // Aborted when no request waits any more.
    await this.#clock.sleep(waitMs, delay.signal).catch(() => undefined);
    this.#delay = undefined;
    this.#startNext();
  }

  /** Starts the first request of the priority whose turn it is. */
  #startFirst(): void {
    const { high, normal } = this.#waiting;
    const priority = high.size > 0 && (normal.size === 0 || this.#lastStarted === 'normal') ? 'high' : 'normal';
    const [start] = this.#waiting[priority];
    if (!start) return;
    this.#waiting[priority].delete(start);
    this.#lastStarted = priority;
    this.#running += 1;
    start();
  }

  #recover(): void {
    const now = this.#clock.elapsedMs();
    if (now <= this.#rateAtMs) return;
    const grown = this.#rate + (this.#full * RECOVERY_PER_SECOND * (now - this.#rateAtMs)) / 1000;
    this.#rate = Math.min(this.#full, grown);
    this.#rateAtMs = now;
  }
}
