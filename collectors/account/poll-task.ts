import { backoffMs, type Clock, describeError, isRetryable, type Logger, OutageLog } from '../../core/index.js';
import { isRejected } from './credentials.js';

/** A repeated request for data of an account. */
export interface AccountPoll {
  /**
   * Polls once and writes a receipt. Resolves with the error of a failed poll; rejects only with the signal's reason.
   */
  run(signal: AbortSignal): Promise<unknown>;
}

export interface PollTaskOptions {
  readonly account: string;
  /** Name of the polled data in log lines, like `trades`. */
  readonly what: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the collector stops. */
  readonly signal: AbortSignal;
  /** Attempts per run with other credentials, after `onRejected`. Default 1: no retry. */
  readonly attempts?: number;
  /** Called when the exchange rejected the credentials. */
  readonly onRejected?: () => void;
}

/** Delays after credentials were rejected. */
const REJECTED_BACKOFF = { baseMs: 10_000, capMs: 15 * 60_000 };

/**
 * Runs polls of one account, one at a time. Retries with rejected credentials back off exponentially: repeated wrong
 * passwords lock an account.
 */
export class PollTask {
  readonly #outage: OutageLog;
  readonly #polls: readonly AccountPoll[];
  #running: Promise<void> | undefined;
  #requested = false;
  #rejections = 0;
  #notBeforeMs = 0;

  constructor(
    private readonly options: PollTaskOptions,
    ...polls: AccountPoll[]
  ) {
    this.#polls = polls;
    const { clock, log, account, what } = options;
    this.#outage = new OutageLog(log, `${what} of account ${account} can be read again`, clock);
  }

  /** Runs unless it is running or backing off after rejected credentials. */
  readonly run = (): void => {
    if (!this.#running && this.options.clock.elapsedMs() >= this.#notBeforeMs) this.#start();
  };

  /** As `run`; if it is running, runs once more afterwards. */
  request(): void {
    if (this.#running) this.#requested = true;
    else this.run();
  }

  /** Resolves when nothing is running. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  #start(): void {
    if (this.options.signal.aborted) return;
    this.#requested = false;
    this.#running = this.#runOnce().finally(() => {
      this.#running = undefined;
      if (this.#requested) this.run();
    });
  }

  async #runOnce(): Promise<void> {
    const { signal, log, account, what, attempts = 1, onRejected } = this.options;
    try {
      let failure: unknown;
      for (let attempt = 0; attempt < attempts; attempt++) {
        for (const poll of this.#polls) {
          failure = await poll.run(signal);
          if (failure !== undefined) break;
        }
        if (!isRejected(failure)) break;
        onRejected?.();
      }
      this.#report(failure);
    } catch (error) {
      if (signal.aborted) return;
      log.error({ err: error }, `polling ${what} of account ${account} failed: ${describeError(error)}`);
    }
  }

  #report(failure: unknown): void {
    const { clock, account, what } = this.options;
    if (failure === undefined) {
      this.#rejections = 0;
      this.#outage.succeeded();
      return;
    }
    // An outage of the exchange is logged once, for all polls.
    if (isRetryable(failure)) return;
    this.#outage.failed(`${what} of account ${account} cannot be read: ${describeError(failure)}`);
    if (!isRejected(failure)) return;
    this.#notBeforeMs = clock.elapsedMs() + backoffMs(this.#rejections, REJECTED_BACKOFF);
    this.#rejections += 1;
  }
}
