import { crc32c } from '@node-rs/crc32';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnreadableRecordsError } from '../../bus/index.js';
import { BatchEncoder, type Compression, stampBatch } from '../../bus/kafka/records/encode.js';
import { BATCH } from '../../bus/kafka/records/layout.js';
import { RecordSet } from '../../bus/kafka/records/record-set.js';
import { sizeOf, texts } from './rig.js';

const records = fc.array(
  fc.record({
    key: fc.string({ unit: 'grapheme', maxLength: 20 }),
    value: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.constant('')).map((text) => Buffer.from(text)),
  }),
  { minLength: 1, maxLength: 60 },
);

/** A record batch as a broker stores it. */
async function batchOf(
  those: readonly { key: string; value: Buffer }[],
  baseOffset: number,
  compression: Compression = 'none',
): Promise<Buffer> {
  const bytes = await new BatchEncoder(compression).encode(those, 1_700_000_000_000);
  stampBatch(bytes, { producerId: 4711, producerEpoch: 3, sequence: 17 });
  bytes.writeBigInt64BE(BigInt(baseOffset), BATCH.baseOffset);
  return bytes;
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ key: 'k', value: Buffer.from(`v${from + i}`) }));

describe('record batches', () => {
  it('carry the CRC-32C checksum', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
  });

  it('are decoded as they were encoded, from any offset on, in batches of any size', async () => {
    const scenario = fc.record({
      batches: fc.array(fc.tuple(records, fc.constantFrom<Compression>('none', 'gzip')), {
        minLength: 1,
        maxLength: 4,
      }),
      base: fc.integer({ min: 0, max: 2 ** 40 }),
      skip: fc.nat(30),
      maxBytes: fc.integer({ min: 1, max: 2000 }),
      torn: fc.nat(200),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ batches, base, skip, maxBytes, torn }) => {
        const encoded: Buffer[] = [];
        let offset = base;
        for (const [those, compression] of batches) {
          encoded.push(await batchOf(those, offset, compression));
          offset += those.length;
        }
        const first = batches[0]?.[0].length ?? 1;
        const from = base + (skip % first);
        // A fetch may end in the middle of a batch.
        const after = await batchOf(numbered(0, 5), offset);
        const tail = after.subarray(0, torn % after.length);
        const set = new RecordSet(Buffer.concat([...encoded, tail]), 't', 0, from);
        expect(set.end).toBe(offset);
        const values: string[] = [];
        let next = from;
        for (let batch = set.take(maxBytes); batch; batch = set.take(maxBytes)) {
          expect(batch.firstOffset).toBe(next);
          expect(batch.count === 1 || sizeOf(batch) <= maxBytes).toBe(true);
          next += batch.count;
          values.push(...texts(batch));
        }
        const all = batches.flatMap(([those]) => those.map((r) => r.value.toString()));
        expect(values).toEqual(all.slice(from - base));
      }),
      { numRuns: 60, seed: 5 },
    );
  });

  it('are split in order, so that none exceeds the limit', async () => {
    const encoder = new BatchEncoder('none');
    await fc.assert(
      fc.asyncProperty(records, fc.integer({ min: 100, max: 1000 }), async (those, maxBytes) => {
        const parts = encoder.split(those, maxBytes);
        expect(parts.flat()).toEqual(those);
        for (const part of parts) {
          const bytes = await encoder.encode(part, 0);
          expect(part.length === 1 || bytes.length <= maxBytes).toBe(true);
        }
      }),
      { numRuns: 60, seed: 6 },
    );
  });

  it('that are corrupt are refused, after the records before them', async () => {
    const damaged = await batchOf(numbered(10, 20), 10);
    damaged.writeUInt8(damaged.readUInt8(BATCH.records + 5) ^ 1, BATCH.records + 5);
    const set = new RecordSet(Buffer.concat([await batchOf(numbered(0, 10), 0), damaged]), 't', 3, 4);
    expect(texts(set.take(1e6) as never)).toEqual(['v4', 'v5', 'v6', 'v7', 'v8', 'v9']);
    for (let again = 0; again < 2; again++) {
      expect(() => set.take(1e6)).toThrow(/offset 10 to 19 of t\/3 cannot be read: their checksum is wrong/);
    }
  });

  it('with missing offsets are refused, with the offset at which reading can continue', async () => {
    const bytes = Buffer.concat([await batchOf(numbered(0, 3), 0), await batchOf(numbered(7, 9), 7)]);
    const set = new RecordSet(bytes, 't', 0, 0);
    expect(set.take(1e6)?.count).toBe(3);
    const failure = (() => {
      try {
        return set.take(1e6);
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(UnreadableRecordsError);
    expect(failure).toMatchObject({ offset: 3, next: 7 });
    expect(texts(new RecordSet(bytes, 't', 0, 7).take(1e6) as never)).toEqual(['v7', 'v8']);
  });

  it('of a compacted topic, or with a transaction marker, are refused', async () => {
    const compacted = await batchOf(numbered(0, 3), 0);
    compacted.writeInt32BE(4, BATCH.lastOffsetDelta);
    compacted.writeUInt32BE(crc32c(compacted.subarray(BATCH.attributes)), BATCH.crc);
    expect(() => new RecordSet(compacted, 't', 0, 0).take(1e6)).toThrow(/0 to 4 .*compacted/);
    const control = await batchOf(numbered(0, 1), 0);
    control.writeInt16BE(0x20, BATCH.attributes);
    control.writeUInt32BE(crc32c(control.subarray(BATCH.attributes)), BATCH.crc);
    expect(() => new RecordSet(control, 't', 0, 0).take(1e6)).toThrow(/transaction/);
  });

  it('with a record that exceeds its batch are refused at every read, never misread', async () => {
    const torn = await batchOf(numbered(0, 3), 0);
    // The length of the second record's value exceeds the record.
    torn[BATCH.records + 9 + 7] = 0x7e;
    torn.writeUInt32BE(crc32c(torn.subarray(BATCH.attributes)), BATCH.crc);
    const set = new RecordSet(torn, 't', 0, 0);
    expect(texts(set.take(1e6) as never)).toEqual(['v0']);
    for (let again = 0; again < 3; again++) expect(() => set.take(1e6)).toThrow(/1 to 2 .*malformed/);
  });
});
