import { gunzipSync } from 'node:zlib';
import { crc32c } from '@node-rs/crc32';
import { describeError } from '../../../core/index.js';
import { BATCH, BATCH_PREFIX, CODEC_MASK, CODECS, CONTROL_BIT, MAGIC } from './layout.js';

/** Why a batch cannot be decoded; `RecordSet` adds topic and offsets. */
export class UnreadableBatch extends Error {}

/** First and next offset of a batch, and the position after it, from its header. */
export function extentOf(bytes: Buffer, at: number): { base: number; end: number; next: number } | undefined {
  if (at + BATCH.records > bytes.length) return undefined;
  const base = Number(bytes.readBigInt64BE(at + BATCH.baseOffset));
  const end = base + bytes.readInt32BE(at + BATCH.lastOffsetDelta) + 1;
  const next = at + BATCH_PREFIX + bytes.readInt32BE(at + BATCH.length);
  return next > bytes.length ? undefined : { base, end, next };
}

/**
 * Iterates over the records of one batch. After `peek`, the next record's value is `bytes[start..end)`; a null value is
 * read as an empty one. `advance` moves to the record after it.
 */
export class OpenBatch {
  readonly bytes: Buffer;
  readonly #count: number;
  #index = 0;
  /** Position after the last record. */
  readonly #limit: number;
  /** Positions of the next record, of the record after it, and of the next byte to read. */
  #record: number;
  #after = 0;
  #at = 0;
  start = 0;
  end = 0;

  /**
   * @param bytes contains the batch at [start, end)
   * @throws UnreadableBatch
   */
  constructor(bytes: Buffer, start: number, end: number) {
    if (bytes.readInt8(start + BATCH.magic) !== MAGIC)
      throw new UnreadableBatch('their message format is not version 2');
    if (crc32c(bytes.subarray(start + BATCH.attributes, end)) !== bytes.readUInt32BE(start + BATCH.crc)) {
      throw new UnreadableBatch('their checksum is wrong');
    }
    const attributes = bytes.readInt16BE(start + BATCH.attributes);
    if ((attributes & CONTROL_BIT) !== 0) {
      throw new UnreadableBatch('they contain a transaction marker, and transactions are not supported');
    }
    this.#count = bytes.readInt32BE(start + BATCH.count);
    if (this.#count !== bytes.readInt32BE(start + BATCH.lastOffsetDelta) + 1) {
      throw new UnreadableBatch('offsets are missing among them (is the topic compacted?)');
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
    // Skips the attributes, which are unused, and the timestamp.
    this.#at += 1;
    while ((bytes[this.#at++] ?? 0) >= 0x80);
    const delta = this.#zigzag();
    const keyLength = this.#zigzag();
    if (keyLength > 0) this.#at += keyLength;
    const size = this.#zigzag();
    this.start = this.#at;
    this.end = size > 0 ? this.#at + size : this.#at;
    if (length < 0 || delta !== this.#index || this.end > after || after > this.#limit) {
      throw new UnreadableBatch('one of them is malformed');
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
      `they are compressed with ${codec}, and only gzip is supported; set the producer's or the topic's compression.type to gzip or none`,
    );
  }
  try {
    return gunzipSync(records);
  } catch (error) {
    throw new UnreadableBatch(`gzip: ${describeError(error)}`);
  }
}
