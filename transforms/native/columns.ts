import type { NativeBody } from './native-body.js';

/** One column of a block: filled row by row, then written in Native format. */
export interface NativeColumn {
  /** Sets the capacity in rows, preserving the values. */
  resize(capacity: number): void;
  /** Writes the first `rows` values; the column can then be reused. */
  writeTo(body: NativeBody, name: string, rows: number): void;
}

const TWO_32 = 0x1_0000_0000;
const MIN_BYTES = 64 * 1024;
/** Memory is released when it exceeds the used size by this factor. */
export const RELEASE_FACTOR = 8;
/** More memory than this is released after every block: many partitions have a column each. */
const MAX_RETAINED_BYTES = 4 * 1024 * 1024;
/** A larger buffer grows by this much, not to twice its size. */
const MAX_GROWTH_BYTES = 32 * 1024 * 1024;

/** UInt64 or DateTime64 of integers from 0 to 2^53. */
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

/** UInt8 or Bool: 1 in few rows, 0 in all others. */
export class FlagColumn implements NativeColumn {
  #flagged: number[] = [];

  constructor(private readonly type: string) {}

  resize(): void {}

  set(row: number): void {
    this.#flagged.push(row);
  }

  writeTo(body: NativeBody, name: string, rows: number): void {
    const values = new Uint8Array(rows);
    for (const row of this.#flagged) values[row] = 1;
    body.column(name, this.type, values);
    this.#flagged = [];
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
    const retained = Math.min(Math.max(MIN_BYTES, this.#used * RELEASE_FACTOR), MAX_RETAINED_BYTES);
    if (retained < this.#bytes.length) this.#bytes = Buffer.alloc(0);
    this.#used = 0;
  }

  #reserve(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#bytes.length) return;
    const { length } = this.#bytes;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, length + Math.min(length, MAX_GROWTH_BYTES), MIN_BYTES));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}

/** Copies as many values as fit to `into`. */
export function copied<T extends Uint32Array | Uint16Array | Uint8Array>(values: T, into: T): T {
  into.set(values.subarray(0, into.length));
  return into;
}
