import { gunzipSync } from 'node:zlib';
import { crc32c } from '@node-rs/crc32';
import { describeError } from '../../../core/index.js';
import { BATCH, BATCH_PREFIX, CODEC_MASK, CODECS, CONTROL_BIT, MAGIC } from './layout.js';

/** Why a batch cannot be read; whoever knows the topic makes a full error of it. */
export class UnreadableBatch extends Error {}

/** The offsets of a batch, from its header alone. */
export function extentOf(bytes: Buffer, at: number): { base: number; end: number; next: number } | undefined {
  if (at + BATCH.records > bytes.length) return undefined;
  const base = Number(bytes.readBigInt64BE(at + BATCH.baseOffset));
  const end = base + bytes.readInt32BE(at + BATCH.lastOffsetDelta) + 1;
  const next = at + BATCH_PREFIX + bytes.readInt32BE(at + BATCH.length);
  return next > bytes.length ? undefined : { base, end, next };
}

/**
 * One record batch, record after record. After `peek`, `start` and `end` are the place of the next record's value in
 * `bytes`; a record without a value counts as one with an empty value. `advance` passes over it.
 */
export class OpenBatch {
  readonly bytes: Buffer;
  readonly #count: number;
  #index = 0;
  /** Where the records end. */
  readonly #limit: number;
  /** Where the next record begins, where the one after it does, and what is being read. */
  #record: number;
  #after = 0;
  #at = 0;
  start = 0;
  end = 0;

  /**
   * @param bytes holds the batch at [start, end)
   * @throws UnreadableBatch
   */
  constructor(bytes: Buffer, start: number, end: number) {
    if (bytes.readInt8(start + BATCH.magic) !== MAGIC)
      throw new UnreadableBatch('their message format is older than 2');
    if (crc32c(bytes.subarray(start + BATCH.attributes, end)) !== bytes.readUInt32BE(start + BATCH.crc)) {
      throw new UnreadableBatch('their checksum is wrong');
    }
    const attributes = bytes.readInt16BE(start + BATCH.attributes);
    if ((attributes & CONTROL_BIT) !== 0) {
      throw new UnreadableBatch('a transaction ends there, and no transactional producer may write to this topic');
    }
    this.#count = bytes.readInt32BE(start + BATCH.count);
    if (this.#count !== bytes.readInt32BE(start + BATCH.lastOffsetDelta) + 1) {
      throw new UnreadableBatch('offsets are missing among them, as if the topic were compacted');
    }
    const codec = attributes & CODEC_MASK;
    const plain = CODECS[codec] === 'none';
    this.bytes = plain ? bytes : uncompressed(bytes.subarray(start + BATCH.records, end), codec);
    this.#record = plain ? start + BATCH.records : 0;
    this.#limit = plain ? end : this.bytes.length;
  }

  get drained(): boolean {
    return this.#index === this.#count;
  }

  /** @throws UnreadableBatch */
  peek(): void {
    const { bytes } = this;
    this.#at = this.#record;
    const length = this.#zigzag();
    const after = this.#at + length;
    // Attributes are unused, and the timestamp is passed over.
    this.#at += 1;
    while ((bytes[this.#at++] ?? 0) >= 0x80);
    const delta = this.#zigzag();
    const keyLength = this.#zigzag();
    if (keyLength > 0) this.#at += keyLength;
    const size = this.#zigzag();
    this.start = this.#at;
    this.end = size > 0 ? this.#at + size : this.#at;
    if (length < 0 || delta !== this.#index || this.end > after || after > this.#limit) {
      throw new UnreadableBatch('one of them is torn');
    }
    this.#after = after;
  }

  advance(): void {
    this.#record = this.#after;
    this.#index++;
  }

  #zigzag(): number {
    let raw = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes[this.#at++] ?? 0;
      raw |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return (raw >>> 1) ^ -(raw & 1);
  }
}

function uncompressed(records: Buffer, code: number): Buffer {
  const codec = CODECS[code] ?? `codec ${code}`;
  if (codec !== 'gzip') {
    throw new UnreadableBatch(
      `they are compressed with ${codec}, and only gzip is read; set compression.type of whoever wrote them to gzip or none`,
    );
  }
  try {
    return gunzipSync(records);
  } catch (error) {
    throw new UnreadableBatch(`gzip: ${describeError(error)}`);
  }
}
