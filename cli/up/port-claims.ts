import { rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describeError, FileLock, isFreePort, UsageError } from '../../core/index.js';

const HOW_FAR = 50;

/**
 * Ports that this process is about to give to its parts. No other Chancery of the same user takes one of them, nor
 * tries whether it is free, until they are released or this process ends: between the choice of a port and the moment
 * when somebody listens there, it looks free to everybody.
 */
export class PortClaims {
  readonly #locks = new Map<number, FileLock>();

  /** @param folder where the locks are; the same for all who are to be kept apart */
  constructor(private readonly folder = tmpdir()) {}

  get ports(): readonly number[] {
    return [...this.#locks.keys()];
  }

  /** Claims a port; false when another Chancery has claimed it, or a server could not listen there. */
  async claim(port: number, host?: string): Promise<boolean> {
    const lock = this.#lock(port);
    if (!lock) return false;
    this.#locks.set(port, lock);
    if (await isFreePort(port, host)) return true;
    this.#release(port, lock);
    return false;
  }

  /** The first of preferred, preferred + 1, … that could be claimed; a person who started two sees neighbours. */
  async claimFrom(preferred: number): Promise<number> {
    for (let port = preferred; port < preferred + HOW_FAR; port++) if (await this.claim(port)) return port;
    throw new UsageError(`ports ${preferred} to ${preferred + HOW_FAR - 1} are all taken; name a free one`);
  }

  release(): void {
    for (const [port, lock] of this.#locks) this.#release(port, lock);
  }

  #lock(port: number): FileLock | undefined {
    for (;;) {
      const lock = this.#open(port);
      if (!lock.try('exclusive')) {
        lock.close();
        return undefined;
      }
      if (lock.inode === statSync(this.#path(port), { throwIfNoEntry: false })?.ino) return lock;
      // Its holder has removed the file since it was opened here: who comes now would find another one.
      lock.close();
    }
  }

  #open(port: number): FileLock {
    try {
      return new FileLock(this.#path(port));
    } catch (error) {
      const why = describeError(error);
      throw new UsageError(`cannot claim port ${port}: ${why}; set TMPDIR to a folder that can be written`);
    }
  }

  #release(port: number, lock: FileLock): void {
    rmSync(this.#path(port), { force: true });
    lock.close();
    this.#locks.delete(port);
  }

  #path(port: number): string {
    return join(this.folder, `chancery-port-${port}-${userInfo().uid}.lock`);
  }
}
