import { lstatSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { FileLock } from './file-lock.js';

const LOCK_FILE = 'owner.lock';
/** Suffix of the prefix while a folder has no lock yet. */
const NEW = 'new-';

/**
 * A folder for temporary files, with a lock that the operating system releases when the process ends, also by SIGKILL: making
 * one removes those that killed processes of the same user have left.
 */
export class ScratchFolder {
  private constructor(
    readonly path: string,
    private readonly lock: FileLock,
  ) {}

  /** @param prefix of its name, with a hyphen at the end */
  static make(prefix: string, parent = tmpdir()): ScratchFolder {
    removeAbandoned(prefix, parent);
    // It gets its name when it is locked: another process would take it for an abandoned one before.
    const unlocked = mkdtempSync(join(parent, `${prefix}${NEW}`));
    const lock = new FileLock(join(unlocked, LOCK_FILE));
    lock.try('exclusive');
    const path = join(parent, prefix + basename(unlocked).slice(prefix.length + NEW.length));
    renameSync(unlocked, path);
    return new ScratchFolder(path, lock);
  }

  /** Removes it with its files. May be called once only. */
  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
    this.lock.close();
  }
}

function removeAbandoned(prefix: string, parent: string): void {
  const names = readdirSync(parent).filter((name) => name.startsWith(prefix) && !name.startsWith(prefix + NEW));
  for (const name of names) removeIfAbandoned(join(parent, name));
}

function removeIfAbandoned(path: string): void {
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return;
    const lock = new FileLock(join(path, LOCK_FILE));
    try {
      if (lock.try('exclusive')) rmSync(path, { recursive: true, force: true });
    } finally {
      lock.close();
    }
  } catch {
    // Another process removes it, or the server of a killed one still writes: the next command tries again.
  }
}
