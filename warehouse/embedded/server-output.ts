/** What the child prints before the reason why it ends without having been asked to. */
export const FAILED = 'chancery: embedded ClickHouse failed: ';

/** What the child prints before the reason why it is not confined to its files. */
export const NOT_CONFINED = 'chancery: embedded ClickHouse is not confined: ';

const KEPT_LINES = 40;

/** The child's stderr, line by line: the last lines are kept, so that a failure can be explained. */
export class ServerOutput {
  #rest = '';
  readonly #lines: string[] = [];
  #obstacle: string | undefined;

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    const lines = `${this.#rest}${chunk.toString('utf8')}`.split('\n');
    this.#rest = (lines.pop() ?? '').slice(-10_000);
    for (const line of lines) {
      if (line.trim() === '') continue;
      if (line.startsWith(NOT_CONFINED)) this.#obstacle = line.slice(NOT_CONFINED.length);
      this.#lines.push(line);
      if (this.#lines.length > KEPT_LINES) this.#lines.shift();
      this.onLine(line);
    }
  }

  /** ClickHouse's error codes in what was printed last: the way to tell causes apart. */
  get errorCodes(): Set<number> {
    return new Set(this.#lines.flatMap((line) => [...line.matchAll(/\bCode: (\d+)\b/g)].map((m) => Number(m[1]))));
  }

  /** Why the child is not confined; undefined when it is. */
  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  /** The most telling line: the child's own last word, else the last line of the server. */
  get reason(): string {
    const failed = this.#lines.findLast((line) => line.startsWith(FAILED))?.slice(FAILED.length);
    const line = failed || this.#lines.findLast((text) => !text.startsWith(FAILED)) || 'it gave no reason';
    return line.slice(0, 500);
  }
}
