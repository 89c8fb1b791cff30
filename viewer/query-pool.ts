import { approximateBytes } from './approximate-bytes.js';

/** A query that is asked again within this time after its result was no longer kept is a refresh, milliseconds. */
const REFRESHED_WITHIN_MS = 10_000;
/** A refresh that took less than this the last time does not wait for other refreshes, milliseconds. */
const QUICK_MS = 100;
/** Maximum number of queries whose last duration is kept. */
const MAX_TIMED = 500;

/** How long a result is kept: a number of milliseconds, a function of the result that returns one, or until a time. */
type Kept<T> = number | ((result: T) => number) | { readonly untilMs: number };

type Turn = 'first' | 'usual' | 'refresh';

export interface PoolLimits {
  /** Queries in flight. */
  readonly queries: number;
  /** Of these, refreshes of what is already drawn, without the quick ones: they leave the processors to what is recorded. */
  readonly refreshes: number;
  /** Approximate size of all results that are kept. */
  readonly keptBytes: number;
}

/** Runs queries, at most a number of them at once. Equal ones are one query, whose result may be kept. */
export class QueryPool {
  readonly #waiting: (() => void)[] = [];
  readonly #waitingRefreshes: (() => void)[] = [];
  readonly #shared = new Map<string, Shared>();
  readonly #timed = new Map<string, Timed>();
  #running = 0;
  #refreshing = 0;
  #bytes = 0;

  constructor(
    private readonly limits: PoolLimits,
    private readonly nowMs: () => number,
  ) {}

  get running(): number {
    return this.#running;
  }

  /**
   * The result of `work`, or of one with the same key that is in flight or kept. The query is aborted when the signals of all
   * its callers are.
   * @param turn `first`: before all that wait
   */
  async run<T>(
    key: string,
    kept: Kept<T>,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
    turn: Turn = this.#isSlowRefresh(key) ? 'refresh' : 'usual',
  ): Promise<T> {
    signal.throwIfAborted();
    const found = this.#shared.get(key);
    const shared =
      found && !found.abort.signal.aborted && found.expiresAt > this.nowMs()
        ? found
        : this.#begin(key, kept, turn, work);
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

  #begin<T>(key: string, kept: Kept<T>, turn: Turn, work: (signal: AbortSignal) => Promise<T>): Shared {
    const abort = new AbortController();
    const shared: Shared = {
      abort,
      callers: 0,
      done: false,
      bytes: 0,
      expiresAt: Number.POSITIVE_INFINITY,
      result: this.#inTurn(abort.signal, turn, work).then(
        ({ result, tookMs }) => {
          shared.done = true;
          shared.expiresAt =
            typeof kept === 'object' ? kept.untilMs : this.nowMs() + (typeof kept === 'number' ? kept : kept(result));
          this.#time(key, { tookMs, keptUntilMs: shared.expiresAt });
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
      if (done && (expiresAt <= now || this.#bytes > this.limits.keptBytes)) this.#delete(key);
    }
  }

  #delete(key: string): void {
    this.#bytes -= this.#shared.get(key)?.bytes ?? 0;
    this.#shared.delete(key);
  }

  #time(key: string, timed: Timed): void {
    this.#timed.delete(key);
    this.#timed.set(key, timed);
    const [oldest] = this.#timed.keys();
    if (this.#timed.size > MAX_TIMED && oldest !== undefined) this.#timed.delete(oldest);
  }

  #isSlowRefresh(key: string): boolean {
    const timed = this.#timed.get(key);
    return timed !== undefined && timed.tookMs > QUICK_MS && this.nowMs() - timed.keptUntilMs < REFRESHED_WITHIN_MS;
  }

  /** Runs a query whose result is read as a stream: it is in flight until it has ended. */
  async stream<T extends { readonly ended: Promise<void> }>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    await this.#enter('usual');
    try {
      signal.throwIfAborted();
      const result = await work(signal);
      void result.ended.then(() => this.#leave('usual'));
      return result;
    } catch (error) {
      this.#leave('usual');
      throw error;
    }
  }

  async #inTurn<T>(signal: AbortSignal, turn: Turn, work: (signal: AbortSignal) => Promise<T>) {
    await this.#enter(turn);
    try {
      signal.throwIfAborted();
      const beganAt = this.nowMs();
      const result = await work(signal);
      return { result, tookMs: this.nowMs() - beganAt };
    } finally {
      this.#leave(turn);
    }
  }

  async #enter(turn: Turn): Promise<void> {
    await new Promise<void>((resolve) => {
      if (turn === 'first') this.#waiting.unshift(resolve);
      else (turn === 'refresh' ? this.#waitingRefreshes : this.#waiting).push(resolve);
      this.#admit();
    });
  }

  #leave(turn: Turn): void {
    this.#running--;
    if (turn === 'refresh') this.#refreshing--;
    this.#admit();
  }

  #admit(): void {
    while (this.#running < this.limits.queries) {
      const first = this.#waiting.shift();
      const refresh = first || this.#refreshing >= this.limits.refreshes ? undefined : this.#waitingRefreshes.shift();
      const next = first ?? refresh;
      if (!next) return;
      this.#running++;
      if (refresh) this.#refreshing++;
      next();
    }
  }
}

/** How long a query took the last time, and until when its result was kept. */
interface Timed {
  readonly tookMs: number;
  readonly keptUntilMs: number;
}

interface Shared {
  readonly abort: AbortController;
  readonly result: Promise<unknown>;
  callers: number;
  done: boolean;
  /** Approximate size of the result; 0 until the query is done. */
  bytes: number;
  expiresAt: number;
}
