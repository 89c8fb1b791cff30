import { deferred, untilAborted } from '../core/index.js';

/** A body of more bytes is received alone. */
const LARGE_BYTES = 4 * 1024 * 1024;

/** A response's right to be large; call `end` when it has been processed, large or not. */
export interface LargeBodyTurn {
  /** Resolves when the rest of a body with this many bytes may be received; undefined when it may at once. */
  wait(bytes: number, signal: AbortSignal): Promise<void> | undefined;
  end(): void;
}

/** Limits the memory for responses: each may have 4 MiB, and one at a time more, until it has been processed. */
export class LargeBodies {
  #previous: Promise<void> = Promise.resolve();

  /** @param ready called before the rest of a large body is received, which waits until it resolves */
  constructor(private readonly ready: () => Promise<void> = () => Promise.resolve()) {}

  turn(): LargeBodyTurn {
    let end: (() => void) | undefined;
    return {
      wait: (bytes, signal) => {
        if (end || bytes <= LARGE_BYTES) return undefined;
        const ended = deferred<void>();
        end = ended.resolve;
        const previous = this.#previous;
        this.#previous = previous.then(() => ended.promise);
        return untilAborted(
          previous.then(() => this.ready()),
          signal,
        );
      },
      end: () => end?.(),
    };
  }
}
