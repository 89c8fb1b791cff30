import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAlive, ownIdentity, type ProcessIdentity, UsageError } from '../../core/index.js';

const ATTEMPTS = 3;

/** Keeps a second process out of a folder. The lock of a process that is gone does not count. */
export class FolderLock {
  #held = false;

  constructor(
    private readonly path: string,
    private readonly folder: string,
  ) {}

  /** @throws UsageError while another live process holds it */
  take(): void {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        writeFileSync(this.path, JSON.stringify(ownIdentity()), { flag: 'wx' });
        this.#held = true;
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = readHolder(this.path);
      if (holder && isAlive(holder)) {
        throw new UsageError(
          `${this.folder} is in use by process ${holder.pid}; stop it, or name another --data folder`,
        );
      }
      rmSync(this.path, { force: true });
    }
    throw new UsageError(`${this.path} cannot be taken; remove it if no exchange uses ${this.folder}`);
  }

  release(): void {
    if (this.#held) rmSync(this.path, { force: true });
    this.#held = false;
  }
}

function readHolder(path: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}
