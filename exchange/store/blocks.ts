import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';

/** Words (float64) per block; on disk a block has 4 KiB. */
export const BLOCK_WORDS = 512;
const BLOCK_BYTES = BLOCK_WORDS * 8;
const FLUSH_AT = 256;

/** Blocks of words, numbered from 0. An appended block can be read and overwritten at once, even if the disk fails. */
export interface Blocks {
  readonly count: number;
  /** Takes ownership of the block; returns its number. */
  append(block: Float64Array): number;
  /** The block's words; valid until the next call. */
  read(number: number): Float64Array;
  /** Overwrites words of a block. */
  write(number: number, offset: number, words: ArrayLike<number>): void;
}

export class MemoryBlocks implements Blocks {
  readonly #blocks: Float64Array[] = [];

  get count(): number {
    return this.#blocks.length;
  }

  append(block: Float64Array): number {
    return this.#blocks.push(block) - 1;
  }

  read(number: number): Float64Array {
    const block = this.#blocks[number];
    if (!block) throw new RangeError(`block ${number} of ${this.#blocks.length}`);
    return block;
  }

  write(number: number, offset: number, words: ArrayLike<number>): void {
    this.read(number).set(words, offset);
  }
}

/**
 * Blocks in one file. New blocks are buffered in memory and written in runs; if a write fails (disk full) they stay there
 * for the next attempt, so a full disk never interrupts a command. Nothing is durable before `sync()`: after a crash,
 * replaying the journal creates the same blocks again.
 */
export class FileBlocks implements Blocks {
  readonly #file: number;
  #waiting: Float64Array[] = [];
  /** Overwrites of blocks in the file that failed and are retried. */
  #patches: { number: number; offset: number; words: Float64Array }[] = [];
  #written: number;
  #cached = new Float64Array(BLOCK_WORDS);
  #cachedNumber = -1;

  /** Opens the file and truncates it to `count` blocks. @throws RangeError when it holds fewer. */
  constructor(path: string, count: number) {
    this.#file = openSync(path, 'a+');
    closeSync(this.#file);
    this.#file = openSync(path, 'r+');
    const size = fstatSync(this.#file).size;
    if (size < count * BLOCK_BYTES) {
      closeSync(this.#file);
      throw new RangeError(`${path} holds ${Math.floor(size / BLOCK_BYTES)} blocks, ${count} are needed`);
    }
    ftruncateSync(this.#file, count * BLOCK_BYTES);
    this.#written = count;
  }

  get count(): number {
    return this.#written + this.#waiting.length;
  }

  append(block: Float64Array): number {
    const number = this.count;
    this.#waiting.push(block);
    if (this.#waiting.length % FLUSH_AT === 0) this.#tryFlush();
    return number;
  }

  read(number: number): Float64Array {
    const waiting = this.#waiting[number - this.#written];
    if (waiting) return waiting;
    if (number >= this.#written || number < 0) throw new RangeError(`block ${number} of ${this.count}`);
    if (number !== this.#cachedNumber) {
      this.#cachedNumber = -1;
      const got = readSync(this.#file, this.#cached, 0, BLOCK_BYTES, number * BLOCK_BYTES);
      if (got !== BLOCK_BYTES) throw new RangeError(`block ${number} is truncated`);
      this.#cachedNumber = number;
      for (const patch of this.#patches) if (patch.number === number) this.#cached.set(patch.words, patch.offset);
    }
    return this.#cached;
  }

  write(number: number, offset: number, words: ArrayLike<number>): void {
    const waiting = this.#waiting[number - this.#written];
    if (waiting) {
      waiting.set(words, offset);
      return;
    }
    if (number === this.#cachedNumber) this.#cached.set(words, offset);
    this.#patches.push({ number, offset, words: Float64Array.from(words) });
    if (this.#patches.length % FLUSH_AT === 0) this.#tryFlush();
  }

  /** Writes everything to the operating system. @throws the file system's error; then nothing is lost. */
  flush(): void {
    while (this.#waiting.length > 0) {
      const run = this.#waiting.slice(0, FLUSH_AT);
      const bytes = Buffer.allocUnsafe(run.length * BLOCK_BYTES);
      for (const [i, block] of run.entries()) {
        Buffer.from(block.buffer, block.byteOffset, BLOCK_BYTES).copy(bytes, i * BLOCK_BYTES);
      }
      writeAll(this.#file, bytes, this.#written * BLOCK_BYTES);
      this.#waiting.splice(0, run.length);
      this.#written += run.length;
    }
    while (this.#patches.length > 0) {
      for (const { number, offset, words } of this.#patches.slice(0, FLUSH_AT)) {
        writeAll(this.#file, Buffer.from(words.buffer), number * BLOCK_BYTES + offset * 8);
      }
      this.#patches.splice(0, FLUSH_AT);
    }
  }

  /** Resolves when everything appended or written before the call is on disk. */
  async sync(): Promise<void> {
    this.flush();
    await promisify(fdatasync)(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }

  #tryFlush(): void {
    try {
      this.flush();
    } catch {
      // It stays in memory; `sync` before the next snapshot reports the error.
    }
  }
}

function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
}
