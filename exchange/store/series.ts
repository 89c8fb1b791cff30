import { BLOCK_WORDS, type Blocks } from './blocks.js';

const FIRST_TAIL_RECORDS = 4;

/** A series as a snapshot holds it. */
export interface SavedSeries {
  readonly length: number;
  readonly sealed: boolean;
  /** Block numbers, in order. */
  readonly blocks: Float64Array;
  readonly tail: Float64Array;
}

/**
 * An append-only list of records with a fixed number of words (float64). Full blocks go to `Blocks`; the last, partial
 * block stays in memory. Many series share one file, and memory holds one block per series at most.
 */
export class Series {
  readonly #perBlock: number;
  #numbers: number[] = [];
  #tail: Float64Array;
  #length = 0;
  #sealed = false;

  constructor(
    private readonly blocks: Blocks,
    readonly width: number,
  ) {
    this.#perBlock = Math.floor(BLOCK_WORDS / width);
    this.#tail = this.#newTail();
  }

  get length(): number {
    return this.#length;
  }

  /** Appends a record of `width` words; returns its index. Not after `seal`. */
  append(record: ArrayLike<number>): number {
    if (this.#sealed) throw new Error('append to a sealed series');
    const index = this.#length;
    const at = (index - this.#numbers.length * this.#perBlock) * this.width;
    if (at === this.#tail.length) this.#growTail();
    this.#tail.set(record, at);
    this.#length += 1;
    if (at + this.width === this.#perBlock * this.width) this.#spill();
    return index;
  }

  /** Overwrites a record. */
  update(index: number, record: ArrayLike<number>): void {
    const block = Math.floor(this.#check(index) / this.#perBlock);
    const at = (index - block * this.#perBlock) * this.width;
    const number = this.#numbers[block];
    if (number === undefined) this.#tail.set(record, at);
    else this.blocks.write(number, at, record);
  }

  /** The record's words; valid until the next call on any series of the same blocks. */
  read(index: number): Float64Array {
    const block = Math.floor(this.#check(index) / this.#perBlock);
    const at = (index - block * this.#perBlock) * this.width;
    return this.#block(block).subarray(at, at + this.width);
  }

  /** Copies records `from <= index < to` into one array. */
  slice(from: number, to: number): Float64Array {
    const end = Math.min(to, this.#length);
    const start = Math.min(Math.max(from, 0), end);
    const words = new Float64Array((end - start) * this.width);
    for (let index = start; index < end; ) {
      const block = Math.floor(index / this.#perBlock);
      const stop = Math.min(end, (block + 1) * this.#perBlock);
      const offset = (index - block * this.#perBlock) * this.width;
      const part = this.#block(block).subarray(offset, offset + (stop - index) * this.width);
      words.set(part, (index - start) * this.width);
      index = stop;
    }
    return words;
  }

  /** The number of records whose first word is `<= value`; first words must be in ascending order. */
  countUpTo(value: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.read(middle)[0] as number) <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Ends the series and frees its memory. Records can still be read and overwritten. */
  seal(): void {
    if (this.#sealed) return;
    if (this.#length > this.#numbers.length * this.#perBlock) this.#spill();
    this.#tail = new Float64Array(0);
    this.#sealed = true;
  }

  save(): SavedSeries {
    return {
      length: this.#length,
      sealed: this.#sealed,
      blocks: Float64Array.from(this.#numbers),
      tail: this.#tail.slice(),
    };
  }

  static restore(blocks: Blocks, width: number, saved: SavedSeries): Series {
    const series = new Series(blocks, width);
    series.#numbers = [...saved.blocks];
    series.#tail = saved.tail.slice();
    series.#length = saved.length;
    series.#sealed = saved.sealed;
    return series;
  }

  #check(index: number): number {
    if (!(index >= 0 && index < this.#length)) throw new RangeError(`record ${index} of ${this.#length}`);
    return index;
  }

  #block(block: number): Float64Array {
    const number = this.#numbers[block];
    return number === undefined ? this.#tail : this.blocks.read(number);
  }

  #newTail(): Float64Array {
    return new Float64Array(this.width * Math.min(FIRST_TAIL_RECORDS, this.#perBlock));
  }

  #growTail(): void {
    const grown = new Float64Array(Math.min(this.#tail.length * 2, this.#perBlock * this.width));
    grown.set(this.#tail);
    this.#tail = grown;
  }

  #spill(): void {
    const block = new Float64Array(BLOCK_WORDS);
    block.set(this.#tail);
    this.#numbers.push(this.blocks.append(block));
    this.#tail = this.#newTail();
  }
}
