import { parseDecimal12 } from '../core/index.js';

const TWO_32 = 0x1_0000_0000;
const MAX_LENGTH = 1_000_000_000;

/**
 * Encodes rows as ClickHouse's RowBinary into one growing buffer: values in the order of the table's columns, no
 * allocation per value. Methods are named after the column type they write; `nullFlag` comes before the value of a
 * Nullable column (and the value is left out when it is null).
 */
export class RowBinaryWriter {
  #buffer: Buffer;
  #view: DataView;
  #at = 0;

  /** @param capacity initial size of the buffer, bytes */
  constructor(capacity = 65_536) {
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(64, capacity));
    this.#view = viewOf(this.#buffer);
  }

  /** Bytes written so far; `truncate` to an earlier length removes a row that failed. */
  get length(): number {
    return this.#at;
  }

  /** Removes everything after the first `length` bytes. */
  truncate(length: number): void {
    if (length < 0 || length > this.#at) throw new RangeError(`cannot truncate ${this.#at} bytes to ${length}`);
    this.#at = length;
  }

  /** The written bytes, not copied; the writer continues in a new buffer, so they do not change. */
  take(): Buffer {
    const body = this.#buffer.subarray(0, this.#at);
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(64, Math.min(this.#buffer.length, this.#at + (this.#at >> 3))));
    this.#view = viewOf(this.#buffer);
    this.#at = 0;
    return body;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#view.setUint8(this.#at, value);
    this.#at += 1;
  }

  bool(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  u16(value: number): void {
    this.#reserve(2);
    this.#view.setUint16(this.#at, value, true);
    this.#at += 2;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#at, value, true);
    this.#at += 4;
  }

  i32(value: number): void {
    this.#reserve(4);
    this.#view.setInt32(this.#at, value, true);
    this.#at += 4;
  }

  /** A non-negative integer; a `number` must be a safe integer. */
  u64(value: number | bigint): void {
    this.#reserve(8);
    if (typeof value === 'bigint') this.#view.setBigUint64(this.#at, value, true);
    else if (value < 0) throw new RangeError(`not a whole number from 0: ${value}`);
    else this.#split(value);
    this.#at += 8;
  }

  /** An integer; a `number` must be a safe integer. */
  i64(value: number | bigint): void {
    this.#reserve(8);
    if (typeof value === 'bigint') this.#view.setBigInt64(this.#at, value, true);
    else this.#split(value);
    this.#at += 8;
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  /** Before the value of a Nullable column; when `isNull`, the value is left out. */
  nullFlag(isNull: boolean): void {
    this.u8(isNull ? 1 : 0);
  }

  nullableF64(value: number | null): void {
    this.#reserve(9);
    if (value === null) {
      this.#view.setUint8(this.#at, 1);
      this.#at += 1;
    } else {
      this.#view.setUint8(this.#at, 0);
      this.#view.setFloat64(this.#at + 1, value, true);
      this.#at += 9;
    }
  }

  /** String, LowCardinality(String): UTF-8; a lone surrogate becomes U+FFFD. */
  string(value: string): void {
    const length = value.length;
    if (length < 64) {
      this.#reserve(1 + length);
      const buffer = this.#buffer;
      const start = this.#at + 1;
      let i = 0;
      for (; i < length; i++) {
        const code = value.charCodeAt(i);
        if (code > 127) break;
        buffer[start + i] = code;
      }
      if (i === length) {
        buffer[this.#at] = length;
        this.#at = start + length;
        return;
      }
    }
    const bytes = Buffer.byteLength(value, 'utf8');
    this.varint(bytes);
    this.#reserve(bytes);
    this.#at += this.#buffer.write(value, this.#at, bytes, 'utf8');
  }

  nullableString(value: string | null): void {
    this.nullFlag(value === null);
    if (value !== null) this.string(value);
  }

  /** A String column from bytes that already are UTF-8: `source[start .. end)`. */
  stringBytes(source: Uint8Array, start = 0, end = source.length): void {
    this.varint(end - start);
    this.raw(source, start, end);
  }

  /** Array(String). */
  strings(values: readonly string[]): void {
    this.varint(values.length);
    for (const value of values) this.string(value);
  }

  /** DateTime64(6): Unix microseconds. */
  dateTime64Micros(micros: number): void {
    this.i64(micros);
  }

  /** DateTime: Unix seconds. */
  dateTime(seconds: number): void {
    this.u32(seconds);
  }

  /** Decimal(38, 12) from decimal text (JSON's number syntax), or from a bigint of 10^-12 units. */
  decimal12(value: string | bigint): void {
    const units = typeof value === 'bigint' ? value : parseDecimal12(value);
    this.#reserve(16);
    this.#view.setBigUint64(this.#at, BigInt.asUintN(64, units), true);
    this.#view.setBigInt64(this.#at + 8, units >> 64n, true);
    this.#at += 16;
  }

  /** UUID from its 36-character text. Throws RangeError for anything else. */
  uuid(text: string): void {
    if (text.length !== 36) throw new RangeError(`not a UUID: ${JSON.stringify(text)}`);
    this.#reserve(16);
    const start = this.#at;
    let digits = 0;
    for (let i = 0; i < 36; i++) {
      const code = text.charCodeAt(i);
      if (i === 8 || i === 13 || i === 18 || i === 23) {
        if (code !== 45) throw new RangeError(`not a UUID: ${JSON.stringify(text)}`);
        continue;
      }
      const value = hexDigit(code);
      if (value < 0) throw new RangeError(`not a UUID: ${JSON.stringify(text)}`);
      // Two little-endian 64-bit halves: byte k of the text's 16 lies at 7 - k, or at 23 - k in the second half.
      const k = digits >> 1;
      const at = start + (k < 8 ? 7 - k : 23 - k);
      this.#buffer[at] = digits & 1 ? (this.#buffer[at] ?? 0) | value : value << 4;
      digits += 1;
    }
    this.#at += 16;
  }

  /** LEB128: the length before a string's bytes or an array's elements. */
  varint(value: number): void {
    this.#reserve(5);
    let rest = value;
    while (rest > 127) {
      this.#buffer[this.#at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#buffer[this.#at++] = rest;
  }

  /** Encoded bytes, such as the constant first columns of every row: `source[start .. end)`. */
  raw(source: Uint8Array, start = 0, end = source.length): void {
    const length = end - start;
    this.#reserve(length);
    if (length < 48) {
      const buffer = this.#buffer;
      const at = this.#at;
      for (let i = 0; i < length; i++) buffer[at + i] = source[start + i] as number;
    } else {
      this.#buffer.set(start === 0 && end === source.length ? source : source.subarray(start, end), this.#at);
    }
    this.#at += length;
  }

  #split(value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number that is exact: ${value}`);
    const high = Math.floor(value / TWO_32);
    this.#view.setUint32(this.#at, value - high * TWO_32, true);
    this.#view.setInt32(this.#at + 4, high, true);
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    if (needed > MAX_LENGTH) throw new RangeError(`more than ${MAX_LENGTH} bytes of rows in one block`);
    const grown = Buffer.allocUnsafeSlow(Math.min(MAX_LENGTH, Math.max(needed, this.#buffer.length * 2)));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
    this.#view = viewOf(grown);
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
