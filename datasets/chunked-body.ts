const LF = 10;
/** More than the line of a chunk's size has. */
const MAX_LINE = 64;

/** Takes the chunked encoding (RFC 9112, section 7.1) off the body of an HTTP response. */
export class ChunkedBody {
  /** Bytes of the current chunk that are missing; 0 in a line. */
  #missing = 0;
  #line = '';
  /** Whether the line is the end of a chunk's data. */
  #isAfterData = false;
  #isComplete = false;

  /** @param onBytes is called at once with each part of the body, which is valid only during the call */
  constructor(private readonly onBytes: (bytes: Buffer) => void) {}

  /** Whether the last chunk was read. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** @throws Error for what is not in chunked encoding */
  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#isComplete) {
      at = this.#missing > 0 ? this.#data(bytes, at) : this.#lines(bytes, at);
    }
  }

  #data(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#missing);
    this.onBytes(bytes.subarray(at, end));
    this.#missing -= end - at;
    this.#isAfterData = this.#missing === 0;
    return end;
  }

  #lines(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LF, at);
    this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end + 1);
    if (this.#line.length > MAX_LINE) throw new Error('a chunk without a size');
    if (end < 0) return bytes.length;
    if (this.#isAfterData) this.#isAfterData = false;
    else this.#begin(this.#line);
    this.#line = '';
    return end + 1;
  }

  #begin(line: string): void {
    const size = /^([0-9a-f]+)\r\n$/i.exec(line)?.[1];
    if (size === undefined) throw new Error('a chunk without a size');
    this.#missing = Number.parseInt(size, 16);
    this.#isComplete = this.#missing === 0;
  }
}
