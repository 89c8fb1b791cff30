/** The child prints this before the reason of a failure. */
export const FAILED = 'chancery: embedded ClickHouse failed: ';

const MAX_LINES = 40;

/** The last lines of the child's stderr, to report the reason of a failure. */
export class ServerOutput {
  #rest = '';
  readonly #lines: string[] = [];

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    const lines = `${this.#rest}${chunk.toString('utf8')}`.split('\n');
    this.#rest = (lines.pop() ?? '').slice(-10_000);
    for (const line of lines) {
      if (line.trim() === '') continue;
      this.#lines.push(line);
      if (this.#lines.length > MAX_LINES) this.#lines.shift();
      this.onLine(line);
    }
  }

  /** ClickHouse's error codes in the last lines. */
  get errorCodes(): Set<number> {
    return new Set(this.#lines.flatMap((line) => [...line.matchAll(/\bCode: (\d+)\b/g)].map((m) => Number(m[1]))));
  }

  /** The reason of a failure: the child's own message, else the server's last line. */
  get reason(): string {
    const failed = this.#lines.findLast((line) => line.startsWith(FAILED))?.slice(FAILED.length);
    const line = failed || this.#lines.findLast((text) => !text.startsWith(FAILED)) || 'it gave no reason';
    return line.slice(0, 500);
  }
}
