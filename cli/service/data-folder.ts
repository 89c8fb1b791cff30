import { makeFolder } from '../../core/index.js';
import { claimLayout, instancePaths } from './instance.js';

/**
 * Creates the data folder of an instance. Files and folders that this process and its children create afterwards are
 * readable by their owner only.
 * @param option that named it
 * @returns whether the folder is new
 * @throws UsageError when it cannot be created or has another layout
 */
export function openDataFolder(data: string, option = '--data'): boolean {
  process.umask(0o077);
  const { folder, run } = instancePaths(data);
  const isNew = makeFolder(folder, { option });
  claimLayout(data);
  makeFolder(run, { option });
  return isNew;
}
