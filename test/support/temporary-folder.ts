import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ATTEMPTS = 200;
const RETRY_MS = 100;

/** Environment variable with the folder of the whole run, which is removed after it. */
export const RUN_FOLDER = 'TEST_RUN_FOLDER';

/** Folders that this process removes when it ends. */
const own: string[] = [];

/** A new empty folder, in a temporary one if given. It is removed with the test run, or when this process ends. */
export function temporaryFolder(within?: string): string {
  const run = within ?? process.env[RUN_FOLDER];
  const folder = mkdtempSync(join(run ?? tmpdir(), 'chancery-test-'));
  if (run === undefined) removeAtExit(folder);
  return folder;
}

function removeAtExit(folder: string): void {
  if (own.length === 0) process.once('exit', () => own.forEach(removeFolder));
  own.push(folder);
}

/**
 * Removes it earlier, for large folders. A killed server may still create files for a moment, so the folder is listed again
 * in each attempt: the retries of `rmSync` do not do that.
 */
export function removeFolder(folder: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
