/** Runs queries, at most a number of them at once. Equal ones are one query, whose result may be kept. */
export class QueryPool {
  readonly #waiting: (() => void)[] = [];
  readonly #shared = new Map<string, Shared>();
  #running = 0;

  /** @param limit maximum number of queries in flight; @param kept maximum number of results kept */
  constructor(
    private readonly limit: number,
    private readonly kept: number,
    private readonly nowMs: () => number,
  ) {}

  get running(): number {
    return this.#running;
  }

  /**
   * The result of `work`, or of one with the same key that is in flight or kept: for `kept` milliseconds, or until a time. The query is aborted when
   * the signals of all its callers are.
   */
  async run<T>(
    key: string,
    kept: number | { readonly untilMs: number },
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const found = this.#shared.get(key);
    const shared =
      found && !found.abort.signal.aborted && found.expiresAt > this.nowMs() ? found : this.#begin(key, kept, work);
    shared.callers++;
    let leave: (() => void) | undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        shared.callers--;
        if (shared.callers === 0 && !shared.done) shared.abort.abort(signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return (await Promise.race([shared.result, left])) as T;
    } finally {
      if (leave) signal.removeEventListener('abort', leave);
    }
  }

  #begin<T>(
    key: string,
    kept: number | { readonly untilMs: number },
    work: (signal: AbortSignal) => Promise<T>,
  ): Shared {
    const abort = new AbortController();
    const shared: Shared = {
      abort,
      callers: 0,
      done: false,
      expiresAt: Number.POSITIVE_INFINITY,
      result: this.#inTurn(abort.signal, work).then(
        (result) => {
          shared.done = true;
          shared.expiresAt = typeof kept === 'number' ? this.nowMs() + kept : kept.untilMs;
          return result;
        },
        (error: unknown) => {
          shared.done = true;
          if (this.#shared.get(key) === shared) this.#shared.delete(key);
          throw error;
        },
      ),
    };
    shared.result.catch(() => undefined);
    this.#shared.delete(key);
    this.#shared.set(key, shared);
    this.#forget();
    return shared;
  }

  /** Expired results, and the oldest ones above the number that is kept. */
  #forget(): void {
    const now = this.nowMs();
    for (const [key, { done, expiresAt }] of this.#shared) {
      if (done && (expiresAt <= now || this.#shared.size > this.kept)) this.#shared.delete(key);
    }
  }

  async #inTurn<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#running >= this.limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      signal.throwIfAborted();
      return await work(signal);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

interface Shared {
  readonly abort: AbortController;
  readonly result: Promise<unknown>;
  callers: number;
  done: boolean;
  expiresAt: number;
}
