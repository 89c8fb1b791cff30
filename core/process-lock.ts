import { readFileSync, writeFileSync } from 'node:fs';
import { UsageError } from './errors.js';
import { FileLock } from './file-lock.js';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js';

/**
 * A mutual exclusion between processes: a flock on a file, which the operating system releases when the holder ends, also
 * by SIGKILL. The file is never removed: a process that has already opened it would lock a file that others cannot open.
 * Its content names the last holder and is informational.
 */
export class ProcessLock {
  private constructor(private readonly lock: FileLock) {}

  /**
   * Takes the lock on the file, which is created if needed.
   * @param refusal returns the error message; the holder is `process 4711`, or `another process` if unknown
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

  /** Releases the lock. May be called once only. */
  release(): void {
    this.lock.close();
  }
}

/** A holder writes its identity after it has taken the lock: until then the file names the previous holder, or none. */
function holderOf(path: string): string {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity;
    return isAlive(holder) ? `process ${holder.pid}` : 'another process';
  } catch {
    return 'another process';
  }
}
