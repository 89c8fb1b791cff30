import { appendFileSync, renameSync, statSync } from 'node:fs';
import { describeError } from '../../core/index.js';

/**
 * A service's log in DATA/logs/, rotated to `.1` when it exceeds the limit. Lines that cannot be written, for example on a
 * full disk, are dropped and counted; the log states how many.
 */
export class LogFile {
  #bytes: number;
  #dropped = 0;
  #said = false;

  /** @param onTrouble called once, when a line cannot be written for the first time */
  constructor(
    private readonly path: string,
    private readonly onWriteError: (text: string) => void,
    private readonly limitBytes = 10_000_000,
  ) {
    this.#bytes = sizeOf(path);
  }

  /** Lines dropped since the last written one. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Never throws. */
  write(line: string): void {
    try {
      this.#append(line);
      this.#dropped = 0;
    } catch (error) {
      this.#dropped += 1;
      this.#bytes = sizeOf(this.path);
      if (this.#said) return;
      this.#said = true;
      this.onWriteError(
        `cannot write ${this.path} (${describeError(error)}): its lines are dropped until that succeeds`,
      );
    }
  }

  #append(line: string): void {
    if (this.#bytes > this.limitBytes) {
      renameSync(this.path, `${this.path}.1`);
      this.#bytes = 0;
    }
    // The full disk may have truncated the previous line: the note begins on a new one.
    const note = this.#dropped > 0 ? `\n(${this.#dropped} lines dropped: could not be written)\n` : '';
    const text = `${note}${line}\n`;
    appendFileSync(this.path, text, { mode: 0o600 });
    this.#bytes += Buffer.byteLength(text);
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
