import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/temporary-folder.js';

const SIZE_MB = 6000;
const MB = 1024 * 1024;

/** A file system in memory for the data folder, whose size can be reduced: a full disk that concerns no other process. */
export class OwnDisk {
  private constructor(private readonly mountPoint: string) {
    mkdirSync(this.folder);
  }

  /** An empty folder on it. */
  get folder(): string {
    return join(this.mountPoint, 'data');
  }

  /** Undefined where this process may not mount one. */
  static mount(): OwnDisk | undefined {
    const folder = temporaryFolder();
    return mount(['-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=700`, 'tmpfs', folder]) ? new OwnDisk(folder) : undefined;
  }

  /** Leaves this much free. */
  fill(freeMb: number): void {
    const { blocks, bfree, bsize } = statfsSync(this.mountPoint);
    this.#resize(Math.ceil(((blocks - bfree) * bsize) / MB) + freeMb);
  }

  /** The whole size again. */
  free(): void {
    this.#resize(SIZE_MB);
  }

  unmount(): void {
    // Lazily: the ClickHouse of a killed supervisor may end a little later.
    spawnSync('umount', ['--lazy', this.mountPoint]);
    removeFolder(this.mountPoint);
  }

  #resize(megabytes: number): void {
    if (!mount(['-o', `remount,size=${megabytes}m`, this.mountPoint]))
      throw new Error(`cannot resize ${this.mountPoint}`);
  }
}

const mount = (args: readonly string[]): boolean => spawnSync('mount', args).status === 0;
