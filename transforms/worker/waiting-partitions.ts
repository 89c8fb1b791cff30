import { PartitionLostError } from '../../bus/index.js';
import { type Clock, describeError, isRetryable, type Logger, OutageLog, retry } from '../../core/index.js';

const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 2000;

/** The partitions that wait for ClickHouse, by key, with the cause, for the log and the health check. */
export class WaitingPartitions {
  readonly #causes = new Map<string, string>();
  readonly #outage: OutageLog;

  constructor(
    log: Logger,
    private readonly clock: Clock,
  ) {
    this.#outage = new OutageLog(log, 'ClickHouse accepts rows again', clock);
  }

  /** The causes of waiting; undefined when no partition waits. */
  get cause(): string | undefined {
    if (this.#causes.size === 0) return undefined;
    return `ClickHouse accepts no rows: ${[...new Set(this.#causes.values())].join('; ')}`;
  }

  add(key: string, cause: string): void {
    this.#causes.set(key, cause);
    this.#outage.failed(`ClickHouse accepts no rows: ${cause}; records wait on the bus`);
  }

  /** Call when ClickHouse responded: the partition no longer waits. */
  resume(key: string): void {
    this.#causes.delete(key);
    if (this.#causes.size === 0) this.#outage.succeeded();
  }

  /** Call when the partition was revoked: it no longer waits. */
  forget(key: string): void {
    this.#causes.delete(key);
  }

  /** Retries until ClickHouse responds; throws other errors, and PartitionLostError. */
  async retry<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const result = await retry(work, {
      attempts: Number.POSITIVE_INFINITY,
      baseMs: FIRST_RETRY_MS,
      capMs: MAX_RETRY_MS,
      retryable: (error) => isRetryable(error) && !(error instanceof PartitionLostError),
      signal,
      clock: this.clock,
      onRetry: (error) => this.add(key, describeError(error)),
    });
    this.resume(key);
    return result;
  }
}
