import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRunning } from './process-identity.js';

/** Files are readable by their owner only. */
const MODE = 0o600;
const DRAFT = /\.(\d+)\.tmp$/;

/** Per process: two processes that write the same file do not interfere; the last rename wins. */
const draftOf = (path: string): string => `${path}.${process.pid}.tmp`;

/** Replaces a file (mode 0600) atomically: readers see the old or the new content, never a part. */
export function writeFileAtomicSync(path: string, content: string | Buffer): void {
  const draft = draftOf(path);
  try {
    // An older temporary file may be a link or have another mode.
    rmSync(draft, { force: true });
    writeFileSync(draft, content, { mode: MODE, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Content that is written as it arrives, so that a large file is never in memory as a whole. */
type Content = string | Buffer | AsyncIterable<Buffer>;

/** As `writeFileAtomicSync`. With `durable`, content and directory entry are on disk when it resolves. */
export async function writeFileAtomic(path: string, content: Content, durable = false): Promise<void> {
  const draft = draftOf(path);
  try {
    await rm(draft, { force: true });
    const file = await open(draft, 'wx', MODE);
    try {
      for await (const piece of pieces(content)) await file.writeFile(piece);
      if (durable) await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  if (durable) await syncFolder(dirname(path));
}

const pieces = (content: Content) => (typeof content === 'string' || Buffer.isBuffer(content) ? [content] : content);

/** fsyncs a folder, so that created, renamed and removed entries are durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Removes temporary files of killed processes from a folder. */
export function removeDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = DRAFT.exec(name)?.[1];
    if (pid && Number(pid) !== process.pid && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}
