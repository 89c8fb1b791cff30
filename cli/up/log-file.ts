import { appendFileSync, renameSync, statSync } from 'node:fs';
import { describeError } from '../../core/index.js';

/**
 * A part's log under DATA/logs/: appended line by line; when it grows past the limit it becomes `.1` and starts anew.
 * A line that cannot be written, on a full disk for instance, is left out and counted; the log says how many were.
 */
export class LogFile {
  #bytes: number;
  #left = 0;
  #said = false;

  /** @param onTrouble told once, when the first line cannot be written */
  constructor(
    private readonly path: string,
    private readonly onTrouble: (text: string) => void,
    private readonly limitBytes = 10_000_000,
  ) {
    this.#bytes = sizeOf(path);
  }

  /** Lines left out since the last one that was written. */
  get leftOut(): number {
    return this.#left;
  }

  /** Never throws. */
  write(line: string): void {
    try {
      this.#append(line);
      this.#left = 0;
    } catch (error) {
      this.#left += 1;
      this.#bytes = sizeOf(this.path);
      if (this.#said) return;
      this.#said = true;
      this.onTrouble(`cannot write ${this.path} (${describeError(error)}): its lines are left out until that works`);
    }
  }

  #append(line: string): void {
    if (this.#bytes > this.limitBytes) {
      renameSync(this.path, `${this.path}.1`);
      this.#bytes = 0;
    }
    // A full disk may have cut the line before: the note begins on its own.
    const note = this.#left > 0 ? `\n(${this.#left} left out: could not be written)\n` : '';
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
