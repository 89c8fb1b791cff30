import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeError, UsageError } from './errors.js';

interface MakeFolderOptions {
  /** The option that named the folder, for errors. */
  readonly option: string;
  /** Permissions of the folders that are created, without those of the umask. */
  readonly mode?: number;
}

/**
 * Creates a folder and its parents, one by one: `recursive` of Node.js never returns in a file system without folders, such as /proc.
 * @returns whether the folder is new
 * @throws UsageError when it is a file, or cannot be created
 */
export function makeFolder(path: string, options: MakeFolderOptions): boolean {
  const { option, mode = 0o777 } = options;
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return false;
    throw new UsageError(`${path} is a file, not a folder; choose another with ${option}`);
  }
  if (dirname(path) !== path) makeFolder(dirname(path), options);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'ENOENT') throw error;
    throw new UsageError(
      `${dirname(path)} cannot contain folders (${describeError(error)}); choose another with ${option}`,
      { cause: error },
    );
  }
}
