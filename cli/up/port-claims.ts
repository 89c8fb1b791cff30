import { rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describeError, FileLock, isFreePort, UsageError } from '../../core/index.js';

const MAX_ATTEMPTS = 50;

/**
 * Ports that this process has reserved for its services. Between the choice of a port and the moment when the service listens
 * on it, the port looks free. Until a claim is released or this process ends, no other Chancery process of the same user
 * uses or probes the port.
 */
export class PortClaims {
  readonly #locks = new Map<number, FileLock>();

  /** @param folder for the lock files; processes that must not choose the same ports share it */
  constructor(private readonly folder = tmpdir()) {}

  get ports(): readonly number[] {
    return [...this.#locks.keys()];
  }

  /** Claims a port; false when another process has claimed it, or a server could not listen on it. */
  async claim(port: number, host?: string): Promise<boolean> {
    const lock = this.#lock(port);
    if (!lock) return false;
    this.#locks.set(port, lock);
    if (await isFreePort(port, host)) return true;
    this.#release(port, lock);
    return false;
  }

  /** Claims the first available of preferred, preferred + 1, … */
  async claimFrom(preferred: number): Promise<number> {
    for (let port = preferred; port < preferred + MAX_ATTEMPTS; port++) if (await this.claim(port)) return port;
    throw new UsageError(`ports ${preferred} to ${preferred + MAX_ATTEMPTS - 1} are all taken; choose a free one`);
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
      // The former holder has removed the file since it was opened: another process would lock a new one.
      lock.close();
    }
  }

  #open(port: number): FileLock {
    try {
      return new FileLock(this.#path(port));
    } catch (error) {
      const why = describeError(error);
      throw new UsageError(`cannot claim port ${port}: ${why}; set TMPDIR to a writable folder`);
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
