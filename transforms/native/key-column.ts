import { copied, type SelectableColumn } from './columns.js';
import type { NativeBody } from './native-body.js';

/** The dictionary of a LowCardinality column, by number, shared by many blocks. */
export interface Dictionary {
  /** Encoded entries at the start of every block's dictionary: NULL if the type is Nullable, and the type's default. */
  readonly reserved: readonly Uint8Array[];
  /** Returns the encoded entry of a number. */
  entry(number: number): Uint8Array;
}

/**
 * A LowCardinality column. Values are set by their number in the dictionary; the dictionary written with a block has only
 * the values of that block, in the order of their first use.
 */
export class KeyColumn implements SelectableColumn {
  #keys = new Uint32Array(0);
  /** By number: its key in the current block, valid if the stamp is the block's. */
  #local = new Uint32Array(256);
  #stamps = new Uint32Array(256);
  #stamp = 1;
  #entries: Uint8Array[];

  constructor(
    private readonly type: string,
    private readonly dictionary: Dictionary,
  ) {
    this.#entries = [...dictionary.reserved];
  }

  resize(capacity: number): void {
    this.#keys = copied(this.#keys, new Uint32Array(capacity));
  }

  set(row: number, number: number): void {
    this.#keys[row] = this.#stamps[number] === this.#stamp ? (this.#local[number] as number) : this.#add(number);
  }

  /** Sets NULL, the first reserved entry of a Nullable column. */
  setNull(row: number): void {
    this.#keys[row] = 0;
  }

  /** The key of each row: a number below `size`. */
  get keys(): Uint32Array {
    return this.#keys;
  }

  get size(): number {
    return this.#entries.length;
  }

  writeRows(body: NativeBody, name: string, rows: readonly number[]): void {
    const keys = Uint32Array.from(rows, (row) => this.#keys[row] as number);
    body.dictionaryColumn(name, this.type, this.#entries, keys);
  }

  writeTo(body: NativeBody, name: string, rows: number): void {
    body.dictionaryColumn(name, this.type, this.#entries, this.#keys.subarray(0, rows));
    this.#entries = [...this.dictionary.reserved];
    this.#stamp += 1;
    if (this.#stamp < 0xffff_ffff) return;
    this.#stamps.fill(0);
    this.#stamp = 1;
  }

  #add(number: number): number {
    if (number >= this.#local.length) {
      const size = Math.max(number + 1, this.#local.length * 2);
      const local = new Uint32Array(size);
      local.set(this.#local);
      this.#local = local;
      const stamps = new Uint32Array(size);
      stamps.set(this.#stamps);
      this.#stamps = stamps;
    }
    const key = this.#entries.length;
    this.#entries.push(this.dictionary.entry(number));
    this.#local[number] = key;
    this.#stamps[number] = this.#stamp;
    return key;
  }
}

/** A LowCardinality(String) column with the same value in every row. */
export class ConstantKeyColumn implements SelectableColumn {
  constructor(
    private readonly type: string,
    private readonly reserved: readonly Uint8Array[],
    private readonly entry: Uint8Array,
  ) {}

  resize(): void {}

  writeTo(body: NativeBody, name: string, rows: number): void {
    const entries = [...this.reserved, this.entry];
    body.dictionaryColumn(name, this.type, entries, new Uint32Array(rows).fill(entries.length - 1));
  }

  writeRows(body: NativeBody, name: string, rows: readonly number[]): void {
    this.writeTo(body, name, rows.length);
  }
}
