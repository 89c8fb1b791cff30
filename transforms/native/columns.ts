import { CHUNK_BYTES, returnChunk, takeChunk } from './chunks.js';
import type { NativeBody } from './native-body.js';

/** One column of a block: filled row by row, then written in Native format. */
export interface NativeColumn {
  /** Sets the capacity in rows, preserving the values. */
  resize(capacity: number): void;
  /** Writes the first `rows` values; the column can then be reused. */
  writeTo(body: NativeBody, name: string, rows: number): void;
}

/** A column that can also write some of its rows, before it writes all of them. */
export interface SelectableColumn extends NativeColumn {
  writeRows(body: NativeBody, name: string, rows: readonly number[]): void;
}

const TWO_32 = 0x1_0000_0000;
const NO_BYTES: Buffer = Buffer.alloc(0);
/** Memory is released when it exceeds the used size by this factor. */
export const RELEASE_FACTOR = 8;
/** UInt64 or DateTime64 of integers from 0 to 2^53. */
export class WideColumn implements SelectableColumn {
  #halves = new Uint32Array(0);

  constructor(private readonly type: string) {}

  resize(capacity: number): void {
    this.#halves = copied(this.#halves, new Uint32Array(capacity * 2));
  }

  set(row: number, value: number): void {
    this.#halves[row * 2] = value;
    this.#halves[row * 2 + 1] = value / TWO_32;
  }

  /** The lower and upper halves of the values, by turns. */
  get halves(): Uint32Array {
    return this.#halves;
  }

  writeTo(body: NativeBody, name: string, rows: number): void {
    body.column(name, this.type, this.#halves.subarray(0, rows * 2));
  }

  writeRows(body: NativeBody, name: string, rows: readonly number[]): void {
    const halves = new Uint32Array(rows.length * 2);
    rows.forEach((row, at) => {
      halves[at * 2] = this.#halves[row * 2] as number;
      halves[at * 2 + 1] = this.#halves[row * 2 + 1] as number;
    });
    body.column(name, this.type, halves);
  }
}

/** UInt32 or DateTime. */
export class U32Column implements SelectableColumn {
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

  writeRows(body: NativeBody, name: string, rows: readonly number[]): void {
    body.column(
      name,
      this.type,
      Uint32Array.from(rows, (row) => this.#values[row] as number),
    );
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
export class ConstantU32Column implements SelectableColumn {
  constructor(private readonly value: number) {}

  resize(): void {}

  writeTo(body: NativeBody, name: string, rows: number): void {
    body.column(name, 'UInt32', new Uint32Array(rows).fill(this.value));
  }

  writeRows(body: NativeBody, name: string, rows: readonly number[]): void {
    this.writeTo(body, name, rows.length);
  }
}

/** String: lengths and bytes as in Native format. */
export class BytesColumn implements NativeColumn {
  #chunk = NO_BYTES;
  /** Bytes of `#chunk` that are used. */
  #used = 0;
  /** The chunks before it, and what is used of each. */
  #chunks: Buffer[] = [];
  #values: Buffer[] = [];
  #valueBytes = 0;

  resize(): void {}

  /** Bytes so far. */
  get bytes(): number {
    return this.#valueBytes + this.#used;
  }

  /** Adds the value of the next row: `source[start .. end)`, which is UTF-8. */
  push(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#reserve(length + 5);
    let rest = length;
    for (; rest > 127; rest >>>= 7) this.#chunk[this.#used++] = (rest & 127) | 128;
    this.#chunk[this.#used++] = rest;
    if (length > 0) this.#chunk.set(source.subarray(start, end), this.#used);
    this.#used += length;
  }

  pushEmpty(): void {
    this.#reserve(1);
    this.#chunk[this.#used++] = 0;
  }

  writeTo(body: NativeBody, name: string): void {
    this.#closeChunk();
    body.column(name, 'String', ...this.#values);
    // The body copies the values before the next one is added to any column.
    for (const chunk of this.#chunks) returnChunk(chunk);
    this.#chunks = [];
    this.#values = [];
    this.#valueBytes = 0;
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#chunk.length) return;
    this.#closeChunk();
    this.#chunk = bytes <= CHUNK_BYTES ? takeChunk() : Buffer.allocUnsafeSlow(bytes);
  }

  #closeChunk(): void {
    if (this.#chunk === NO_BYTES) return;
    this.#chunks.push(this.#chunk);
    this.#values.push(this.#chunk.subarray(0, this.#used));
    this.#valueBytes += this.#used;
    this.#chunk = NO_BYTES;
    this.#used = 0;
  }
}

/** Copies as many values as fit to `into`. */
export function copied<T extends Uint32Array | Uint16Array | Uint8Array>(values: T, into: T): T {
  into.set(values.subarray(0, into.length));
  return into;
}
