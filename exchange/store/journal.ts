import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { describeError, UnavailableError, UsageError } from '../../core/index.js';
import { encodeFrame, scanFrames } from './frames.js';

const MAGIC = Buffer.from('CHXJRNL1');
const datasync = promisify(fdatasync);

/**
 * One file of numbered payloads. When `append` returns, the operating system has the payload: it survives a kill of the
 * process. When `sync` resolves, everything appended before is on disk: it survives a power failure. Calls during a flush
 * share the next one.
 */
export class Journal {
  /** Size of a journal file without payloads. */
  static readonly emptyBytes = MAGIC.length;

  readonly #file: number;
  #size: number;
  #next: number;
  #synced: number;
  #underWay: Promise<void> | undefined;
  #waiting: Promise<void> | undefined;
  #broken: unknown;

  private constructor(
    readonly path: string,
    file: number,
    size: number,
    next: number,
  ) {
    this.#file = file;
    this.#size = size;
    this.#next = next;
    this.#synced = next;
  }

  /** Creates a file whose first payload will have `number`. */
  static create(path: string, number: number): Journal {
    const file = openSync(path, 'w+');
    writeSync(file, MAGIC, 0, MAGIC.length, 0);
    return new Journal(path, file, MAGIC.length, number);
  }

  /** Number that the next payload will get. */
  get next(): number {
    return this.#next;
  }

  get bytes(): number {
    return this.#size;
  }

  /** @throws UnavailableError when it cannot be written (disk full): then no part of it is in the journal. */
  append(payload: string): void {
    if (this.#broken !== undefined) throw this.#refusal(this.#broken);
    const frame = encodeFrame(this.#next, payload);
    let done = 0;
    try {
      while (done < frame.length) {
        done += writeSync(this.#file, frame, done, frame.length - done, this.#size + done);
      }
    } catch (error) {
      this.#cutBack();
      throw this.#refusal(error);
    }
    this.#size += frame.length;
    this.#next += 1;
  }

  /** @throws UnavailableError when the disk fails; the journal then accepts no more payloads. */
  sync(): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#refusal(this.#broken));
    if (this.#synced === this.#next) return Promise.resolve();
    if (!this.#underWay) {
      this.#underWay = this.#flush().finally(() => {
        this.#underWay = undefined;
      });
      return this.#underWay;
    }
    this.#waiting ??= this.#underWay
      .catch(() => undefined)
      .then(() => {
        this.#waiting = undefined;
        return this.sync();
      });
    return this.#waiting;
  }

  /** The synchronous form of `sync`. */
  syncNow(): void {
    try {
      fdatasyncSync(this.#file);
    } catch (error) {
      this.#broken = error;
      throw this.#refusal(error);
    }
    this.#synced = this.#next;
  }

  /** Waits for pending flushes; payloads appended since the last `sync` are not flushed. */
  async close(): Promise<void> {
    await this.#waiting?.catch(() => undefined);
    await this.#underWay?.catch(() => undefined);
    closeSync(this.#file);
  }

  async #flush(): Promise<void> {
    const upTo = this.#next;
    try {
      await datasync(this.#file);
    } catch (error) {
      this.#broken = error;
      throw this.#refusal(error);
    }
    this.#synced = upTo;
  }

  #cutBack(): void {
    try {
      ftruncateSync(this.#file, this.#size);
    } catch (error) {
      this.#broken = error;
    }
  }

  #refusal(cause: unknown): UnavailableError {
    return new UnavailableError(`cannot write ${this.path} (${describeError(cause)}); free space on its disk`, {
      cause,
    });
  }
}

interface ReadJournal {
  /** Number after the last intact payload. */
  readonly next: number;
}

/**
 * Reads a journal file from its beginning and truncates a torn tail.
 * @param number of its first payload
 * @param last whether no later file exists: only then may its end be torn
 * @throws UsageError when it is not a journal or damaged before its end
 */
export function readJournal(path: string, number: number, last: boolean, take: (payload: string) => void): ReadJournal {
  const bytes = readFileSync(path);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC.subarray(0, Math.min(bytes.length, MAGIC.length)))) {
    throw new UsageError(`${path} is not a journal of this exchange; name another folder with --data`);
  }
  const scan = scanFrames(bytes, Math.min(MAGIC.length, bytes.length), number, take);
  if (scan.damaged || (!last && scan.end < bytes.length)) {
    throw new UsageError(
      `${path} is damaged at byte ${scan.end}: restore the folder from a backup, or name another one with --data`,
    );
  }
  if (scan.end < bytes.length) cut(path, scan.end);
  return { next: number + scan.frames };
}

function cut(path: string, size: number): void {
  const file = openSync(path, 'r+');
  try {
    if (fstatSync(file).size > size) ftruncateSync(file, size);
  } finally {
    closeSync(file);
  }
}
