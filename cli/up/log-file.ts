import { appendFileSync, renameSync, statSync } from 'node:fs';

/** A part's log under DATA/logs/: appended line by line; when it grows past the limit it becomes `.1` and starts anew. */
export class LogFile {
  #bytes: number;

  constructor(
    private readonly path: string,
    private readonly limitBytes = 10_000_000,
  ) {
    this.#bytes = sizeOf(path);
  }

  write(line: string): void {
    if (this.#bytes > this.limitBytes) {
      renameSync(this.path, `${this.path}.1`);
      this.#bytes = 0;
    }
    const text = `${line}\n`;
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
