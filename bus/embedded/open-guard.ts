import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FileLock } from '../../core/index.js';

const LOOK_AGAIN_MS = 1;
/**
 * Nobody waits longer for a process that stands still, milliseconds. It is safe to go on unless that process commits in
 * the very moment (some microseconds) in which the other one opens the log.
 */
const PATIENCE_MS = 5000;

/**
 * Keeps the opening of a log and the writes of other processes apart. LMDB notes in the shared lock file which
 * transaction is the latest, and every process that opens the environment notes there what it read a moment before: a
 * commit in between would be forgotten, and the next one would take its place.
 *
 * Writes share the lock `writing`; who opens has it alone. The lock `opening` is its anteroom: while somebody waits to
 * open, no further write begins.
 */
export class OpenGuard {
  readonly #opening: FileLock;
  readonly #writing: FileLock;
  /** Writes of this process that are under way, and whether they share the lock: not where patience was at an end. */
  #writes = 0;
  #shares = false;

  constructor(dir: string) {
    this.#opening = new FileLock(join(dir, 'opening.lock'));
    this.#writing = new FileLock(join(dir, 'writing.lock'));
  }

  /** Runs what opens the log, when no other process writes or opens. */
  whileOpening<T>(work: () => T): T {
    const deadline = performance.now() + PATIENCE_MS;
    takeBefore(deadline, this.#opening);
    takeBefore(deadline, this.#writing);
    try {
      return work();
    } finally {
      this.#writing.release();
      this.#opening.release();
    }
  }

  /** Runs a write, when no other process is opening the log. */
  async whileWriting<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!this.#beginWrite() && performance.now() < deadline) await delay(LOOK_AGAIN_MS);
    this.#writes += 1;
    try {
      return await work();
    } finally {
      this.#writes -= 1;
      if (this.#writes === 0) {
        this.#writing.release();
        this.#shares = false;
      }
    }
  }

  close(): void {
    this.#opening.close();
    this.#writing.close();
  }

  #beginWrite(): boolean {
    if (!this.#opening.try('shared')) return false;
    this.#shares ||= this.#writing.try('shared');
    this.#opening.release();
    return this.#shares;
  }
}

/** Opening is synchronous, as LMDB's is. */
function takeBefore(deadline: number, lock: FileLock): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (!lock.try('exclusive') && performance.now() < deadline) Atomics.wait(never, 0, 0, LOOK_AGAIN_MS);
}
