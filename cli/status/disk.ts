import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Disk usage of the files in a folder, bytes; 0 when it does not exist. Files that are removed meanwhile do not count. */
export async function diskUse(folder: string): Promise<number> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch {
    return 0;
  }
  let sum = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += await diskUse(path);
    else if (entry.isFile()) sum += await allocated(path);
  }
  return sum;
}

/** Allocated blocks, not length: the embedded log's file is sparse. */
async function allocated(path: string): Promise<number> {
  try {
    return (await stat(path)).blocks * 512;
  } catch {
    return 0;
  }
}
