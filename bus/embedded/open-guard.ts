import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FileLock } from '../../core/index.js';

const POLL_MS = 1;
/**
 * Maximum wait for a lock whose holder is stopped (SIGSTOP), milliseconds. Continuing without the lock is unsafe only if
 * that process commits in the few microseconds in which this one opens the log.
 */
const MAX_WAIT_MS = 5000;

/**
 * Excludes opening a log while other processes write to it. LMDB stores the ID of the latest transaction in the shared
 * lock file, and a process that opens the environment writes there the ID that it read just before: a commit between the
 * two would be lost, and the next commit would overwrite it.
 *
 * Writers share the lock `writing`; an opener holds it exclusively. The lock `opening` keeps writers from starving an
 * opener: while one waits, no further write begins.
 */
export class OpenGuard {
  readonly #opening: FileLock;
  readonly #writing: FileLock;
  /** Writes of this process in progress. */
  #writes = 0;
  /** Whether they hold the shared lock: not if the wait for it timed out. */
  #shares = false;

  constructor(dir: string) {
    this.#opening = new FileLock(join(dir, 'opening.lock'));
    this.#writing = new FileLock(join(dir, 'writing.lock'));
  }

  /** Opens the log while no other process writes or opens. */
  whileOpening<T>(work: () => T): T {
    const deadline = performance.now() + MAX_WAIT_MS;
    acquireBefore(deadline, this.#opening);
    acquireBefore(deadline, this.#writing);
    try {
      return work();
    } finally {
      this.#writing.release();
      this.#opening.release();
    }
  }

  /** Runs a write while no other process opens the log. */
  async whileWriting<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (!this.#beginWrite() && performance.now() < deadline) await delay(POLL_MS);
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

/** Blocks the thread: opening an LMDB environment is synchronous. */
function acquireBefore(deadline: number, lock: FileLock): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (!lock.try('exclusive') && performance.now() < deadline) Atomics.wait(never, 0, 0, POLL_MS);
}
