import { closeSync, fstatSync, openSync } from 'node:fs';
import { DataType, load, open } from 'ffi-rs';

/** ffi-rs's name for the handle of the program itself, which includes the C library. */
const LIBRARY = 'chancery-file-lock';
/** Operations of flock(2). */
const OPERATION = { shared: 1, exclusive: 2, release: 8 } as const;
const NON_BLOCKING = 4;

/**
 * An inter-process lock on a file (flock(2)). The operating system releases it when its holder ends, also by SIGKILL.
 * Opening the same file again creates another holder, also in the same process.
 */
export class FileLock {
  readonly #fd: number;

  constructor(path: string) {
    open({ library: LIBRARY, path: '' });
    this.#fd = openSync(path, 'a');
  }

  /** File descriptor: a process that inherits it holds the lock too. */
  get fd(): number {
    return this.#fd;
  }

  /** Inode of the locked file; its path may refer to another file by now. */
  get inode(): number {
    return fstatSync(this.#fd).ino;
  }

  /** Takes the lock if that is possible at once; false when another holder prevents it. */
  try(mode: 'shared' | 'exclusive'): boolean {
    return this.#flock(OPERATION[mode] | NON_BLOCKING);
  }

  release(): void {
    this.#flock(OPERATION.release);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #flock(operation: number): boolean {
    const paramsType = [DataType.I32, DataType.I32];
    const paramsValue = [this.#fd, operation];
    return load({ library: LIBRARY, funcName: 'flock', retType: DataType.I32, paramsType, paramsValue }) === 0;
  }
}
