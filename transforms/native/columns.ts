import type { NativeBody } from './native-body.js';

/** One column of a block that is being filled: values by row, then written as a column of Native format. */
export interface NativeColumn {
  /** Sets how many rows there is memory for; the values of these rows stay. */
  resize(capacity: number): void;
  /** Writes the first `rows` values; the column can then be filled again. */
  writeTo(body: NativeBody, name: string, rows: number): void;
}

const TWO_32 = 0x1_0000_0000;
const MIN_BYTES = 64 * 1024;
/** Memory is released when it exceeds the used size by this factor. */
export const RELEASE_FACTOR = 8;

/** UInt64 or DateTime64 of whole numbers from 0 to 2^53. */
export class WideColumn implements NativeColumn {
  #halves = new Uint32Array(0);

  constructor(private readonly type: string) {}

  resize(capacity: number): void {
    this.#halves = copied(this.#halves, new Uint32Array(capacity * 2));
  }

  set(row: number, value: number): void {
    this.#halves[row * 2] = value;
    this.#halves[row * 2 + 1] = value / TWO_32;
  }

  writeTo(body: NativeBody, name: string, rows: number): void {
    body.column(name, this.type, this.#halves.subarray(0, rows * 2));
  }
}

/** UInt32 or DateTime. */
export class U32Column implements NativeColumn {
  #values = new Uint32Array(0);

  constructor(private readonly type: string) {}

  resize(capacity: number): void {
    this.#values = copied(this.#values, new Uint32Array(capacity));
  }

  set(row: number, value: number): void {
    this.#values[row] = value;
  }

  writeTo(body: NativeBody, name: string, rows: number): void {
    body.column(name, this.type, this.#values.subarray(0, rows));
  }
}

/** UInt16. */
export class U16Column implements NativeColumn {
  #values = new Uint16Array(0);

  resize(capacity: number): void {
    this.#values = copied(this.#values, new Uint16Array(capacity));
  }

  set(row: number, value: number): void {
    this.#values[row] = value;
  }

  writeTo(body: NativeBody, name: string, rows: number): void {
    body.column(name, 'UInt16', this.#values.subarray(0, rows));
  }
}

/** UInt8 or Enum8. */
export class U8Column implements NativeColumn {
  #values = new Uint8Array(0);

  constructor(private readonly type: string) {}

  resize(capacity: number): void {
    this.#values = copied(this.#values, new Uint8Array(capacity));
  }

  set(row: number, value: number): void {
    this.#values[row] = value;
  }

  writeTo(body: NativeBody, name: string, rows: number): void {
    body.column(name, this.type, this.#values.subarray(0, rows));
  }
}

/** UInt32 with the same value in every row. */
export class ConstantU32Column implements NativeColumn {
  constructor(private readonly value: number) {}

  resize(): void {}

  writeTo(body: NativeBody, name: string, rows: number): void {
    body.column(name, 'UInt32', new Uint32Array(rows).fill(this.value));
  }
}

/** String: lengths and bytes as in Native format. */
export class BytesColumn implements NativeColumn {
  #bytes: Buffer = Buffer.alloc(0);
  #used = 0;

  resize(): void {}

  /** Bytes so far. */
  get bytes(): number {
    return this.#used;
  }

  /** Adds the value of the next row: `source[start .. end)`, which is UTF-8. */
  push(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#reserve(length + 5);
    let rest = length;
    for (; rest > 127; rest >>>= 7) this.#bytes[this.#used++] = (rest & 127) | 128;
    this.#bytes[this.#used++] = rest;
    if (length > 0) this.#bytes.set(source.subarray(start, end), this.#used);
    this.#used += length;
  }

  pushEmpty(): void {
    this.#reserve(1);
    this.#bytes[this.#used++] = 0;
  }

  writeTo(body: NativeBody, name: string): void {
    body.column(name, 'String', this.#bytes.subarray(0, this.#used));
    if (Math.max(MIN_BYTES, this.#used * RELEASE_FACTOR) < this.#bytes.length) this.#bytes = Buffer.alloc(0);
    this.#used = 0;
  }

  #reserve(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2, MIN_BYTES));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}

/** Copies the first of the values to `into`. */
export function copied<T extends Uint32Array | Uint16Array | Uint8Array>(values: T, into: T): T {
  into.set(values.subarray(0, into.length));
  return into;
}
