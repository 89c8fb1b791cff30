import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { crc32c } from '@node-rs/crc32';
import type { BusRecord } from '../../bus.js';
import { BATCH, BATCH_PREFIX, MAGIC } from './layout.js';

const compress = promisify(gzip);

/** Upper bound of a record's length, attributes, deltas, field lengths and header count, bytes. */
const RECORD_OVERHEAD = 24;
/** Encoded keys are cached, since keys repeat. */
const MAX_CACHED_KEYS = 20_000;

export interface ProducerStamp {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly sequence: number;
}

export type Compression = 'none' | 'gzip';

/** Builds record batches. */
export class BatchEncoder {
  readonly #keys = new Map<string, Buffer>();

  constructor(private readonly compression: Compression) {}

  /** Splits the records so that no batch is larger than `maxBytes`, unless a single record is. */
  split(records: readonly BusRecord[], maxBytes: number): BusRecord[][] {
    const parts: BusRecord[][] = [];
    let part: BusRecord[] = [];
    let bytes: number = BATCH.records;
    for (const record of records) {
      const size = this.#sizeOf(record);
      if (part.length > 0 && bytes + size > maxBytes) {
        parts.push(part);
        part = [];
        bytes = BATCH.records;
      }
      part.push(record);
      bytes += size;
    }
    if (part.length > 0) parts.push(part);
    return parts;
  }

  /** A batch of at least one record, complete except for producer ID, epoch and sequence. */
  async encode(records: readonly BusRecord[], timestampMs: number): Promise<Buffer> {
    let capacity: number = BATCH.records;
    for (const record of records) capacity += this.#sizeOf(record);
    const batch = Buffer.allocUnsafe(capacity);
    let at: number = BATCH.records;
    for (let i = 0; i < records.length; i++) at = this.#writeRecord(batch, at, records[i] as BusRecord, i);
    const plain = batch.subarray(0, at);
    writeHeader(plain, records.length, timestampMs);
    if (this.compression === 'none') return plain;
    const body = await compress(plain.subarray(BATCH.records), { level: 1 });
    const packed = Buffer.concat([plain.subarray(0, BATCH.records), body]);
    packed.writeInt32BE(packed.length - BATCH_PREFIX, BATCH.length);
    packed.writeInt16BE(1, BATCH.attributes);
    return packed;
  }

  #sizeOf(record: BusRecord): number {
    return RECORD_OVERHEAD + this.#keyOf(record).length + record.value.length;
  }

  #keyOf(record: BusRecord): Buffer {
    let key = this.#keys.get(record.key);
    if (key === undefined) {
      key = Buffer.from(record.key);
      if (this.#keys.size >= MAX_CACHED_KEYS) this.#keys.clear();
      this.#keys.set(record.key, key);
    }
    return key;
  }

  #writeRecord(batch: Buffer, start: number, record: BusRecord, index: number): number {
    const key = this.#keyOf(record);
    const { value } = record;
    const length =
      3 + sizeOfVarint(index) + sizeOfVarint(key.length) + key.length + sizeOfVarint(value.length) + value.length;
    let at = writeVarint(batch, start, length);
    batch[at++] = 0;
    batch[at++] = 0;
    at = writeVarint(batch, at, index);
    at = writeVarint(batch, at, key.length);
    batch.set(key, at);
    at = writeVarint(batch, at + key.length, value.length);
    batch.set(value, at);
    at += value.length;
    batch[at++] = 0;
    return at;
  }
}

/** Writes producer ID, epoch and sequence into an encoded batch, then its checksum. */
export function stampBatch(batch: Buffer, stamp: ProducerStamp): void {
  batch.writeBigInt64BE(BigInt(stamp.producerId), BATCH.producerId);
  batch.writeInt16BE(stamp.producerEpoch, BATCH.producerEpoch);
  batch.writeInt32BE(stamp.sequence, BATCH.baseSequence);
  batch.writeUInt32BE(crc32c(batch.subarray(BATCH.attributes)), BATCH.crc);
}

function writeHeader(batch: Buffer, count: number, timestampMs: number): void {
  const timestamp = BigInt(Math.floor(timestampMs));
  batch.fill(0, 0, BATCH.records);
  batch.writeInt32BE(batch.length - BATCH_PREFIX, BATCH.length);
  batch.writeInt32BE(-1, BATCH.leaderEpoch);
  batch.writeInt8(MAGIC, BATCH.magic);
  batch.writeInt32BE(count - 1, BATCH.lastOffsetDelta);
  batch.writeBigInt64BE(timestamp, BATCH.baseTimestamp);
  batch.writeBigInt64BE(timestamp, BATCH.maxTimestamp);
  batch.writeInt32BE(count, BATCH.count);
}

/** Zigzag varint of a non-negative value. */
function writeVarint(batch: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value * 2;
  while (rest > 0x7f) {
    batch[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  batch[at++] = rest;
  return at;
}

function sizeOfVarint(value: number): number {
  const zigzag = value * 2;
  return zigzag < 0x80 ? 1 : zigzag < 0x4000 ? 2 : zigzag < 0x200000 ? 3 : zigzag < 0x10000000 ? 4 : 5;
}
