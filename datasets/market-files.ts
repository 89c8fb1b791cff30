import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

const NEWLINE = 10;

/** Lines of a text, those with the same first fields together, read in bounded pieces. */
export class LineGroups {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #ended = false;

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /**
   * The next lines that begin with these fields.
   * @param onLines called with the number of lines of each piece
   */
  async *take(fields: string, onLines: (lines: number) => void): AsyncGenerator<Buffer> {
    const prefix = Buffer.from(fields);
    for (;;) {
      const { end, lines, isLast } = this.#complete(prefix);
      const piece = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      onLines(lines);
      if (piece.length > 0) yield piece;
      if (isLast || !(await this.#read())) return;
    }
  }

  /** Whether every line was taken. */
  async isEmpty(): Promise<boolean> {
    return this.#rest.length === 0 && !(await this.#read());
  }

  /** The complete lines at the beginning that have the prefix, and whether another line follows. */
  #complete(prefix: Buffer): { readonly end: number; readonly lines: number; readonly isLast: boolean } {
    let end = 0;
    for (let lines = 0; ; lines++) {
      const newline = this.#rest.indexOf(NEWLINE, end);
      if (newline < 0) return { end, lines, isLast: false };
      if (!this.#rest.subarray(end, end + prefix.length).equals(prefix)) return { end, lines, isLast: true };
      end = newline + 1;
    }
  }

  async #read(): Promise<boolean> {
    if (this.#ended) return false;
    const { value, done } = await this.#chunks.next();
    if (done) {
      this.#ended = true;
      return false;
    }
    this.#rest = Buffer.concat([this.#rest, value]);
    return true;
  }
}

/** Compresses a text. The same text has the same bytes with the same version of zlib. */
export async function* gzipped(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: 6 });
  const done = pipeline(Readable.from(content), gzip);
  done.catch(() => {});
  for await (const chunk of gzip) yield chunk as Buffer;
  await done;
}
