import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeError, UsageError } from '../../core/index.js';
import { instancePaths } from './instance.js';

/**
 * Makes the data folder of an instance ready for a part that writes there. From now on every file and folder that this
 * process and its children make is for their owner only.
 * @returns whether the folder is new
 * @throws UsageError when there cannot be such a folder
 */
export function openDataFolder(data: string): boolean {
  process.umask(0o077);
  const { folder, run } = instancePaths(data);
  const isNew = makeFolder(folder);
  makeFolder(run);
  return isNew;
}

/** Step by step: Node's own recursive way never ends where a file system, like /proc, takes no folders. */
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
    throw new UsageError(`${dirname(path)} takes no folders (${describeError(error)}); choose another with --data`, {
      cause: error,
    });
  }
}
