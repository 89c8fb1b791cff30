import { ForbiddenError, UnauthorizedError } from '../../client/index.js';
import {
  backoffMs,
  type Clock,
  describeError,
  isRetryable,
  type Logger,
  OutageLog,
  UsageError,
} from '../../core/index.js';

export interface AccountPollOptions {
  readonly account: string;
  /** What is polled, for log lines, like `trades`. */
  readonly what: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the collector stops. */
  readonly signal: AbortSignal;
}

/** Pauses after credentials were refused. */
const REFUSED = { baseMs: 10_000, capMs: 15 * 60_000 };

/**
 * One kind of poll of one account. It never runs twice at once. Credentials that the exchange refuses are tried less and
 * less often: nothing locks an account faster than a wrong password every few seconds.
 */
export class AccountPoll {
  readonly #trouble: OutageLog;
  #running: Promise<void> | undefined;
  #again = false;
  #refusals = 0;
  #notBeforeMs = 0;

  /** @param work one poll; answers what it failed with, if it did */
  constructor(
    private readonly options: AccountPollOptions,
    private readonly work: (signal: AbortSignal) => Promise<unknown>,
  ) {
    const { log, account, what } = options;
    this.#trouble = new OutageLog(log, `${what} of account ${account} can be read again`);
  }

  /** It is its time: runs unless it still does. */
  due(): void {
    if (this.#running || this.options.clock.nowMs() < this.#notBeforeMs) return;
    this.#start();
  }

  /** Something has happened: runs now, or once more when it still does. */
  wanted(): void {
    if (this.#running) this.#again = true;
    else this.due();
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  #start(): void {
    if (this.options.signal.aborted) return;
    this.#again = false;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#again) this.due();
    });
  }

  async #run(): Promise<void> {
    const { signal, log, account, what } = this.options;
    try {
      this.#took(await this.work(signal));
    } catch (error) {
      if (signal.aborted) return;
      log.error({ err: error }, `polling ${what} of account ${account} failed: ${describeError(error)}`);
    }
  }

  #took(failure: unknown): void {
    const { clock, account, what } = this.options;
    if (failure === undefined) {
      this.#refusals = 0;
      this.#trouble.succeeded();
      return;
    }
    // That the exchange is down is said once, for all polls.
    if (isRetryable(failure)) return;
    this.#trouble.failed(`${what} of account ${account} cannot be read: ${describeError(failure)}`);
    if (!isRefusal(failure)) return;
    this.#notBeforeMs = clock.nowMs() + backoffMs(this.#refusals, REFUSED);
    this.#refusals += 1;
  }
}

/** The exchange does not take the credentials, or they cannot be used. */
export function isRefusal(error: unknown): boolean {
  return error instanceof UnauthorizedError || error instanceof ForbiddenError || error instanceof UsageError;
}
