import { approximateBytes } from './approximate-bytes.js';

/** Runs queries, at most a number of them at once. Equal ones are one query, whose result may be kept. */
export class QueryPool {
  readonly #waiting: (() => void)[] = [];
  readonly #shared = new Map<string, Shared>();
  #running = 0;
  #bytes = 0;

  /** @param limit maximum number of queries in flight; @param keptBytes of all results that are kept, approximately */
  constructor(
    private readonly limit: number,
    private readonly keptBytes: number,
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
      bytes: 0,
      expiresAt: Number.POSITIVE_INFINITY,
      result: this.#inTurn(abort.signal, work).then(
        (result) => {
          shared.done = true;
          shared.expiresAt = typeof kept === 'number' ? this.nowMs() + kept : kept.untilMs;
          if (this.#shared.get(key) === shared) this.#keep(shared, approximateBytes(key) + approximateBytes(result));
          return result;
        },
        (error: unknown) => {
          shared.done = true;
          if (this.#shared.get(key) === shared) this.#delete(key);
          throw error;
        },
      ),
    };
    shared.result.catch(() => undefined);
    this.#delete(key);
    this.#shared.set(key, shared);
    return shared;
  }

  #keep(shared: Shared, bytes: number): void {
    shared.bytes = bytes;
    this.#bytes += bytes;
    this.#forget();
  }

  /** Expired results, and the oldest ones above the size that is kept. */
  #forget(): void {
    const now = this.nowMs();
    for (const [key, { done, expiresAt }] of this.#shared) {
      if (done && (expiresAt <= now || this.#bytes > this.keptBytes)) this.#delete(key);
    }
  }

  #delete(key: string): void {
    this.#bytes -= this.#shared.get(key)?.bytes ?? 0;
    this.#shared.delete(key);
  }

  /** Runs a query whose result is read as a stream: it is in flight until it has ended. */
  async stream<T extends { readonly ended: Promise<void> }>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    await this.#enter();
    try {
      signal.throwIfAborted();
      const result = await work(signal);
      void result.ended.then(() => this.#leave());
      return result;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  async #inTurn<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      signal.throwIfAborted();
      return await work(signal);
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running >= this.limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }
}

interface Shared {
  readonly abort: AbortController;
  readonly result: Promise<unknown>;
  callers: number;
  done: boolean;
  /** Of its result, once it is done. */
  bytes: number;
  expiresAt: number;
}
