import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeError, UsageError } from '../../core/index.js';
import { claimLayout, instancePaths } from './instance.js';

/**
 * Creates the data folder of an instance. Files and folders that this process and its children create afterwards are
 * readable by their owner only.
 * @returns whether the folder is new
 * @throws UsageError when it cannot be created or has another layout
 */
export function openDataFolder(data: string): boolean {
  process.umask(0o077);
  const { folder, run } = instancePaths(data);
  const isNew = makeFolder(folder);
  claimLayout(data);
  makeFolder(run);
  return isNew;
}

/** Creates parents one by one: `recursive` of Node.js never returns in a file system without folders, such as /proc. */
function makeFolder(path: string): boolean {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return false;
    throw new UsageError(`${path} is a file, not a folder; choose another with --data`);
  }
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'ENOENT') throw error;
    throw new UsageError(
      `${dirname(path)} cannot contain folders (${describeError(error)}); choose another with --data`,
      {
        cause: error,
      },
    );
  }
}
