import type { Clock } from './clock.js';
import { systemClock } from './clock.js';
import { isRetryable } from './errors.js';

export interface BackoffOptions {
  /** The first delay, or its upper bound, milliseconds. */
  baseMs: number;
  /** Maximum delay, milliseconds. */
  capMs: number;
}

/** min(cap, base × 2^attempt); the first attempt is 0. */
export const backoffMs = (attempt: number, { baseMs, capMs }: BackoffOptions): number =>
  Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30));

/** Full jitter: a uniform delay between 0 and `backoffMs`. */
export class Backoff {
  #attempt = 0;

  constructor(
    private readonly options: BackoffOptions,
    private readonly random: () => number = Math.random,
  ) {}

  get attempt(): number {
    return this.#attempt;
  }

  nextDelayMs(): number {
    const bound = backoffMs(this.#attempt, this.options);
    this.#attempt += 1;
    return this.random() * bound;
  }

  reset(): void {
    this.#attempt = 0;
  }
}

export interface RetryOptions extends Partial<BackoffOptions> {
  /** Maximum number of attempts; Infinity retries until the signal is aborted. Default 5. */
  attempts?: number;
  signal?: AbortSignal | undefined;
  clock?: Clock;
  random?: () => number;
  /** Which errors are retried. Default: those with `retryable`. */
  retryable?: (error: unknown) => boolean;
  /** A minimum delay that the server requested (Retry-After), milliseconds. */
  atLeastMs?: (error: unknown) => number | undefined;
  onRetry?: (error: unknown, attempt: number, delayMs: number) => void;
}

/** Calls `work` with the attempt's number, from 0, until it succeeds; throws the last error. */
export async function retry<T>(work: (attempt: number) => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { attempts = 5, signal, clock = systemClock, baseMs = 100, capMs = 10_000 } = options;
  const backoff = new Backoff({ baseMs, capMs }, options.random);
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      if (signal?.aborted || attempt + 1 >= attempts || !(options.retryable ?? isRetryable)(error)) throw error;
      const delayMs = Math.max(backoff.nextDelayMs(), options.atLeastMs?.(error) ?? 0);
      options.onRetry?.(error, attempt, delayMs);
      await clock.sleep(delayMs, signal);
    }
  }
}
