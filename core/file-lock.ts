import { closeSync, fstatSync, openSync } from 'node:fs';
import { DataType, load, open } from 'ffi-rs';

/** The handle of the program itself, where the C library is. */
const LIBRARY = 'chancery-file-lock';
/** Of flock(2). */
const OPERATION = { shared: 1, exclusive: 2, release: 8 } as const;
const NON_BLOCKING = 4;

/**
 * A lock on a file between processes (flock(2)), which the system releases when its holder ends, however it ends.
 * Another open of the same file is another holder, also in the same process.
 */
export class FileLock {
  readonly #fd: number;

  constructor(path: string) {
    open({ library: LIBRARY, path: '' });
    this.#fd = openSync(path, 'a');
  }

  /** Which file it is on, whatever its path leads to by now. */
  get inode(): number {
    return fstatSync(this.#fd).ino;
  }

  /** Takes it if that can be done at once; false when another holder is in the way. */
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
