import { IntegrityError } from '../../core/index.js';
import type { RecordBatch } from '../bus.js';

/**
 * A block: consecutive records of one partition that one commit appended, stored as one LMDB value.
 *
 * | bytes          | what                                                                                |
 * |----------------|-------------------------------------------------------------------------------------|
 * | 0              | layout version, 1                                                                   |
 * | 4..8           | u32 LE: number of records                                                           |
 * | 8..16          | f64 LE: when they were appended, Unix milliseconds                                  |
 * | 16..16+4×count | u32 LE each: where the i-th value ends, counted from the start of the values        |
 * | then           | the values, concatenated                                                            |
 */
const VERSION = 1;
const HEADER = 16;

/** Upper bound of a block's values, unless a single value is larger: small, so that LMDB finds runs of free pages. */
const MAX_BLOCK_BYTES = 256 * 1024;

export interface Block {
  readonly count: number;
  readonly bytes: Buffer;
}

/** Packs values into as few blocks as their size allows, in order. */
export function encodeBlocks(
  values: readonly Uint8Array[],
  appendedAtMs: number,
  blockBytes: number = MAX_BLOCK_BYTES,
): Block[] {
  const blocks: Block[] = [];
  for (let from = 0; from < values.length; ) {
    let to = from;
    let size = 0;
    for (let value = values[to]; value && (to === from || size + value.length <= blockBytes); value = values[++to]) {
      size += value.length;
    }
    blocks.push(encodeBlock(values, from, to, size, appendedAtMs));
    from = to;
  }
  return blocks;
}

function encodeBlock(values: readonly Uint8Array[], from: number, to: number, size: number, atMs: number): Block {
  const count = to - from;
  const base = HEADER + 4 * count;
  const bytes = Buffer.allocUnsafeSlow(base + size);
  bytes.fill(0, 0, HEADER);
  bytes[0] = VERSION;
  bytes.writeUInt32LE(count, 4);
  bytes.writeDoubleLE(atMs, 8);
  let end = 0;
  for (let i = from; i < to; i++) {
    const value = values[i] as Uint8Array;
    bytes.set(value, base + end);
    end += value.length;
    bytes.writeUInt32LE(end, HEADER + 4 * (i - from));
  }
  return { count, bytes };
}

/** A block as read from the store. Throws `IntegrityError` when the bytes are not a block. */
export class BlockView {
  readonly count: number;
  readonly appendedAtMs: number;
  readonly #base: number;

  constructor(
    readonly bytes: Buffer,
    readonly firstOffset: number,
    where: string,
  ) {
    this.count = bytes.length >= HEADER && bytes[0] === VERSION ? bytes.readUInt32LE(4) : 0;
    this.#base = HEADER + 4 * this.count;
    if (this.count === 0 || bytes.length < this.#base || bytes.length !== this.#base + this.endOf(this.count - 1)) {
      throw new IntegrityError(`the block at ${where} is corrupt; move the embedded log away and restore a backup`);
    }
    this.appendedAtMs = bytes.readDoubleLE(8);
  }

  /** Offset after the last record. */
  get endOffset(): number {
    return this.firstOffset + this.count;
  }

  /** End of the i-th value, relative to the start of the values. */
  endOf(i: number): number {
    return i < 0 ? 0 : this.bytes.readUInt32LE(HEADER + 4 * i);
  }

  /** The bytes of the values [from, to). */
  values(from: number, to: number): Buffer {
    return this.bytes.subarray(this.#base + this.endOf(from - 1), this.#base + this.endOf(to - 1));
  }
}

/** Combines consecutive records of blocks into one batch. */
export class BatchBuilder {
  readonly #parts: { block: BlockView; from: number; to: number }[] = [];
  #count = 0;
  #size = 0;

  constructor(
    private readonly firstOffset: number,
    private readonly maxBytes: number,
  ) {}

  get nextOffset(): number {
    return this.firstOffset + this.#count;
  }

  /** Adds records from `nextOffset` up to `end` (exclusive); false when the batch is full. An empty batch takes at least one. */
  add(block: BlockView, end: number): boolean {
    const from = this.nextOffset - block.firstOffset;
    const last = Math.min(block.count, end - block.firstOffset);
    const start = block.endOf(from - 1);
    let to = last;
    if (this.#size + block.endOf(last - 1) - start > this.maxBytes) {
      to = from;
      while (to < last && this.#size + block.endOf(to) - start <= this.maxBytes) to++;
      if (to === from && this.#count === 0) to++;
    }
    if (to === from) return false;
    this.#parts.push({ block, from, to });
    this.#count += to - from;
    this.#size += block.endOf(to - 1) - start;
    return to === block.count && this.#size < this.maxBytes;
  }

  build(): RecordBatch {
    const bounds = new Uint32Array(2 * this.#count);
    const chunks: Buffer[] = [];
    let n = 0;
    let size = 0;
    for (const { block, from, to } of this.#parts) {
      const start = block.endOf(from - 1);
      for (let i = from; i < to; i++, n++) {
        bounds[2 * n] = size + block.endOf(i - 1) - start;
        bounds[2 * n + 1] = size + block.endOf(i) - start;
      }
      size += block.endOf(to - 1) - start;
      chunks.push(block.values(from, to));
    }
    const [only] = chunks;
    const bytes = chunks.length === 1 && only ? only : Buffer.concat(chunks, size);
    return { firstOffset: this.firstOffset, count: n, bytes, bounds };
  }
}
