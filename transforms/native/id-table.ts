import { isAscii } from 'node:buffer';

const MIN_SLOTS = 1024;

/**
 * Interned texts, by number: each is stored once, in UTF-8, and is looked up by the bytes of a record without creating a
 * string. For event, market and session IDs: very many records have the same few.
 */
export class IdTable {
  #arena: Buffer = Buffer.allocUnsafeSlow(64 * 1024);
  #view = viewOf(this.#arena);
  #used = 0;
  /** Text `i` is `arena[starts[i] .. starts[i + 1])`. */
  readonly #starts: number[] = [0];
  /** Hash table with open addressing, of plain texts only; a slot holds a number + 1, or 0. */
  #slots = new Int32Array(MIN_SLOTS);
  readonly #numbers = new Map<string, number>();

  /** Number of texts; they are numbered from 0 to `size` - 1. */
  get size(): number {
    return this.#starts.length - 1;
  }

  /** The number of a text; a new text gets the next one. */
  intern(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.size;
    const bytes = Buffer.from(text, 'utf8');
    this.#reserve(bytes.length);
    bytes.copy(this.#arena, this.#used);
    this.#used += bytes.length;
    this.#starts.push(this.#used);
    this.#numbers.set(text, number);
    if (isPlain(bytes)) this.#insert(number, (number + 1) * 2 > this.#slots.length);
    return number;
  }

  /**
   * The number of the plain text `bytes[start .. end)`, or -1 when it is unknown. A plain text has no quote, backslash or
   * control character: between two quotes it is a complete JSON string.
   * @param view a DataView of the same bytes
   */
  find(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    const length = end - start;
    for (let slot = hash(bytes, view, start, end) & mask; ; slot = (slot + 1) & mask) {
      const number = (this.#slots[slot] as number) - 1;
      if (number < 0) return -1;
      const from = this.#starts[number] as number;
      if ((this.#starts[number + 1] as number) - from !== length) continue;
      if (same(this.#arena, this.#view, from, bytes, view, start, length)) return number;
    }
  }

  /** The UTF-8 bytes of a text. */
  bytesOf(number: number): Buffer {
    const start = this.#starts[number];
    if (start === undefined || number >= this.size) throw new RangeError(`no text has number ${number}`);
    return this.#arena.subarray(start, this.#starts[number + 1]);
  }

  textOf(number: number): string {
    return this.bytesOf(number).toString('utf8');
  }

  #insert(number: number, grow: boolean): void {
    if (grow) {
      this.#slots = new Int32Array(this.#slots.length * 2);
      for (let other = 0; other < number; other++) if (isPlain(this.bytesOf(other))) this.#put(other);
    }
    this.#put(number);
  }

  #put(number: number): void {
    const mask = this.#slots.length - 1;
    const start = this.#starts[number] as number;
    const end = this.#starts[number + 1] as number;
    let slot = hash(this.#arena, this.#view, start, end) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = number + 1;
  }

  #reserve(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#arena.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#arena.length * 2));
    this.#arena.copy(grown, 0, 0, this.#used);
    this.#arena = grown;
    this.#view = viewOf(grown);
  }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/**
 * Whether `length` bytes of two arrays are equal. `a` is UTF-8 without NUL, so that eight bytes of it are never NaN or zero as a double:
 * doubles are compared, because they are the largest numbers that are read without an allocation.
 */
export function same(
  a: Uint8Array,
  aView: DataView,
  aStart: number,
  b: Uint8Array,
  bView: DataView,
  bStart: number,
  length: number,
): boolean {
  let i = 0;
  for (; i + 8 <= length; i += 8) {
    if (aView.getFloat64(aStart + i, true) !== bView.getFloat64(bStart + i, true)) return false;
  }
  if (i + 4 <= length) {
    if (aView.getInt32(aStart + i, true) !== bView.getInt32(bStart + i, true)) return false;
    i += 4;
  }
  for (; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false;
  return true;
}

function hash(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  let h = end - start;
  let i = start;
  for (; i + 4 <= end; i += 4) h = Math.imul(h ^ view.getInt32(i, true), 0x9e3779b1) ^ (h >>> 15);
  for (; i < end; i++) h = Math.imul(h ^ (bytes[i] as number), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  return h ^ (h >>> 13);
}

/** Whether a text needs no escapes in a JSON string. */
function isPlain(bytes: Buffer): boolean {
  if (!isAscii(bytes)) return false;
  for (const byte of bytes) if (byte < 0x20 || byte === 0x22 || byte === 0x5c) return false;
  return true;
}
