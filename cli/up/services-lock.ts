import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock, systemClock, UsageError } from '../../core/index.js';
import { instancePaths } from '../service/instance.js';

/** Longer than a service takes to shut down, also one that was just being started on a busy machine. */
const WAIT_MS = 20_000;
const RETRY_MS = 50;

/**
 * A lock on a data folder that every service of `chancery up` inherits: the system releases it when the last of them has ended.
 * The services of a killed `up` shut down by themselves and use their ports and files until then.
 */
export class ServicesLock {
  private constructor(
    private readonly path: string,
    private readonly lock: FileLock,
  ) {}

  /**
   * Waits until no service of a former `up` runs. Call it as the only `up` of the data folder.
   * @param onWait called once if there is one
   * @throws UsageError when that takes too long
   */
  static async acquire(dataFolder: string, onWait: () => void, signal: AbortSignal): Promise<ServicesLock> {
    const folder = instancePaths(dataFolder).run;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, 'services.lock');
    const lock = new FileLock(path);
    try {
      const deadline = performance.now() + WAIT_MS;
      for (let waiting = false; !lock.try('exclusive'); waiting = true) {
        if (!waiting) onWait();
        if (performance.now() > deadline) {
          throw new UsageError(
            `services of a killed chancery up still run on ${dataFolder} after ${WAIT_MS / 1000} s; ` +
              '`chancery status` lists them; end them with kill -9',
          );
        }
        await systemClock.sleep(RETRY_MS, signal);
      }
    } catch (error) {
      lock.close();
      throw error;
    }
    return new ServicesLock(path, lock);
  }

  /** To be inherited by the services. */
  get fd(): number {
    return this.lock.fd;
  }

  /** Removes the file, which is safe while this is the only `up` of the data folder. */
  release(): void {
    rmSync(this.path, { force: true });
    this.lock.close();
  }
}
