import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Names the folder of the whole run, which is removed after it. */
export const RUN_FOLDER = 'TEST_RUN_FOLDER';

/** A new empty folder. It is removed with the test run, or when this process ends. */
export function temporaryFolder(): string {
  const run = process.env[RUN_FOLDER];
  const folder = mkdtempSync(join(run ?? tmpdir(), 'chancery-test-'));
  if (run === undefined) process.once('exit', () => removeFolder(folder));
  return folder;
}

/** Removes it before that, where much is in it. A killed server may still write for a moment. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
}
