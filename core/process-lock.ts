import { readFileSync, writeFileSync } from 'node:fs';
import { UsageError } from './errors.js';
import { FileLock } from './file-lock.js';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js';

/**
 * Lets one process at a time do something. The lock is a flock on a file, which the system releases when the holder
 * ends, also by SIGKILL. The file is never removed: a process that has opened it already would lock a file that nobody
 * else can find. What it contains names the last holder and is information only.
 */
export class ProcessLock {
  private constructor(private readonly lock: FileLock) {}

  /**
   * Takes the lock on the file, which is created if needed.
   * @param refusal the error message, given the holder as `process 4711`, or `another process` while it is not known
   * @throws UsageError while another process, or another lock of this process, holds it
   */
  static acquire(
    path: string,
    refusal: (holder: string) => string = (holder) => `${path} is held by ${holder}; stop it first`,
  ): ProcessLock {
    const lock = new FileLock(path);
    if (!lock.try('exclusive')) {
      lock.close();
      throw new UsageError(refusal(holderOf(path)));
    }
    try {
      writeFileSync(path, `${JSON.stringify(ownIdentity())}\n`);
    } catch (error) {
      lock.close();
      throw error;
    }
    return new ProcessLock(lock);
  }

  /** Releases the lock. Call it once. */
  release(): void {
    this.lock.close();
  }
}

/** A holder writes its identity after it has taken the lock: until then the file names the one before, or nobody. */
function holderOf(path: string): string {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity;
    return isAlive(holder) ? `process ${holder.pid}` : 'another process';
  } catch {
    return 'another process';
  }
}
