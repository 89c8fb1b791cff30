import { gunzipSync } from 'node:zlib';
import { describeError } from '../../../core/index.js';
import { crc32c } from './crc32c.js';
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
  /** Where the next record begins, where the one after it does, and what is being read. */
  #record = 0;
  #after = 0;
  #at = 0;
  start = 0;
  end = 0;

  /** @throws UnreadableBatch */
  constructor(batch: Buffer) {
    if (batch.readInt8(BATCH.magic) !== MAGIC) throw new UnreadableBatch('their message format is older than 2');
    if (crc32c(batch, BATCH.attributes) !== batch.readUInt32BE(BATCH.crc)) {
      throw new UnreadableBatch('their checksum is wrong');
    }
    const attributes = batch.readInt16BE(BATCH.attributes);
    if ((attributes & CONTROL_BIT) !== 0) {
      throw new UnreadableBatch('a transaction ends there, and no transactional producer may write to this topic');
    }
    this.#count = batch.readInt32BE(BATCH.count);
    if (this.#count !== batch.readInt32BE(BATCH.lastOffsetDelta) + 1) {
      throw new UnreadableBatch('offsets are missing among them, as if the topic were compacted');
    }
    this.bytes = uncompressed(batch.subarray(BATCH.records), attributes & CODEC_MASK);
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
    if (length < 0 || delta !== this.#index || this.end > after || after > bytes.length) {
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
  if (codec === 'none') return records;
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
