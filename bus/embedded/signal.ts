import { closeSync, type FSWatcher, openSync, watch, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Maximum wait without a notification, milliseconds. */
const MAX_WAIT_MS = 250;
/** The same if the operating system cannot watch files. */
const POLL_MS = 10;

/**
 * Notifies every process that has the log open of a write: a byte is written to a small file that all of them watch. It
 * carries no data; the changes are read from the store. A lost notification only delays a waiter by `MAX_WAIT_MS`.
 */
export class ChangeSignal {
  readonly #path: string;
  readonly #fd: number;
  readonly #waiting = new Set<() => void>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(dir: string) {
    this.#path = join(dir, 'changed');
    this.#fd = openSync(this.#path, 'w');
  }

  notify(): void {
    if (!this.#closed) writeSync(this.#fd, '.', 0);
  }

  /** Resolves at the next notification, after `MAX_WAIT_MS`, or when the signal is aborted. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#closed) return Promise.resolve();
    this.#watch();
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        if (this.#waiting.size === 0) this.#disarm();
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done);
      this.#timer ??= setTimeout(() => this.#wake(), this.#watcher ? MAX_WAIT_MS : POLL_MS);
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watcher?.close();
    this.#wake();
    closeSync(this.#fd);
  }

  #watch(): void {
    if (this.#watcher) return;
    try {
      this.#watcher = watch(this.#path, { persistent: false }, () => this.#wake());
      this.#watcher.on('error', () => {
        this.#watcher?.close();
        this.#watcher = undefined;
      });
    } catch {
      // No file watches are left, or the file system does not support them: poll instead.
      this.#watcher = undefined;
    }
  }

  #wake(): void {
    this.#disarm();
    for (const done of [...this.#waiting]) done();
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
