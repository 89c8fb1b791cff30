import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordBatch } from '../../bus/index.js';
import { FetchBuffer } from '../../bus/kafka/consume/fetch-buffer.js';
import { BufferPool } from '../../bus/kafka/protocol/buffer-pool.js';
import { FrameDecoder, NotKafkaError } from '../../bus/kafka/protocol/frame-decoder.js';
import { BatchEncoder, stampBatch } from '../../bus/kafka/records/encode.js';
import { BATCH } from '../../bus/kafka/records/layout.js';
import { texts } from './rig.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A frame with a body of this many bytes. */
function frameOf(bytes: number, fill: number): Buffer {
  const frame = Buffer.alloc(4 + bytes, fill);
  frame.writeInt32BE(bytes);
  return frame;
}

describe('frames of a connection', () => {
  it('are complete, however the stream is split, and the chunks may be reused', () => {
    const scenario = fc.record({
      sizes: fc.array(fc.oneof(fc.integer({ min: 4, max: 40 }), fc.integer({ min: 60_000, max: 200_000 })), {
        minLength: 1,
        maxLength: 6,
      }),
      cuts: fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 20 }),
    });
    fc.assert(
      fc.property(scenario, ({ sizes, cuts }) => {
        const sent = sizes.map((size, i) => frameOf(size, i + 1));
        const seen: Buffer[] = [];
        const decoder = new FrameDecoder(new BufferPool(), (frame) => seen.push(frame));
        const stream = Buffer.concat(sent);
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = cuts[i % cuts.length] ?? 1;
          const chunk = Buffer.from(stream.subarray(at, at + size));
          decoder.add(chunk);
          chunk.fill(0xff);
          at += size;
        }
        expect(seen.map((frame) => frame.compare(sent[seen.indexOf(frame)] as Buffer))).toEqual(sent.map(() => 0));
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['an alert of TLS', Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46]), /server uses TLS/],
    ['a text', Buffer.from('HTTP/1.1 400 Bad Request'), /does not speak Kafka's protocol \(0x48545450\)/],
    ['a negative length', Buffer.from([0xff, 0xff, 0xff, 0xff]), /0xffffffff/],
  ])('are refused where %s comes', (_, bytes, message) => {
    const decoder = new FrameDecoder(new BufferPool(), () => expect.unreachable());
    expect(() => decoder.add(bytes)).toThrow(NotKafkaError);
    expect(() => new FrameDecoder(new BufferPool(), () => undefined).add(bytes)).toThrow(message);
  });
});

describe('the buffer pool', () => {
  it('reuses memory for a response of the same size, for any size', () => {
    for (let bytes = 64 * KIB; bytes < 40 * MIB; bytes = Math.ceil(bytes * 1.07)) {
      const pool = new BufferPool();
      const first = pool.acquire(bytes);
      expect(first.length).toBe(bytes);
      pool.release(first);
      expect(pool.acquire(bytes).buffer, `${bytes} bytes`).toBe(first.buffer);
    }
  });

  it('reuses memory only after all holders released it, and for one response only', () => {
    const action = fc.oneof(
      fc.record({ take: fc.integer({ min: 1, max: 3 * MIB }) }),
      fc.record({ hold: fc.nat() }),
      fc.record({ release: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
        const pool = new BufferPool();
        const held: Buffer[] = [];
        for (const each of actions) {
          if ('take' in each) {
            const taken = pool.acquire(each.take);
            expect(held.some(({ buffer }) => buffer === taken.buffer)).toBe(false);
            held.push(taken);
          } else if (held.length > 0 && 'hold' in each) {
            const again = held[each.hold % held.length] as Buffer;
            pool.retain(again);
            held.push(again.subarray(1));
          } else if (held.length > 0 && 'release' in each) {
            const [done] = held.splice(each.release % held.length, 1);
            pool.release(done as Buffer);
          }
        }
      }),
    );
  });

  it('does not acquire memory twice that was released twice', () => {
    const pool = new BufferPool();
    const first = pool.acquire(MIB);
    pool.release(first);
    pool.release(first);
    expect(pool.acquire(MIB).buffer).not.toBe(pool.acquire(MIB).buffer);
  });

  it('retains free memory up to its limit', () => {
    const pool = new BufferPool();
    const taken = Array.from({ length: 12 }, () => pool.acquire(16 * MIB));
    for (const each of taken) pool.release(each);
    const known = new Set(taken.map(({ buffer }) => buffer));
    const again = Array.from({ length: 12 }, () => pool.acquire(16 * MIB));
    expect(again.filter(({ buffer }) => known.has(buffer))).toHaveLength(4);
  });
});

describe('fetched records', () => {
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => ({ key: 'k', value: Buffer.from(`v${from + i} ${'x'.repeat(2000)}`) }));

  async function batchOf(from: number, to: number): Promise<Buffer> {
    const bytes = await new BatchEncoder('none').encode(numbered(from, to), 0);
    stampBatch(bytes, { producerId: 4711, producerEpoch: 0, sequence: from });
    bytes.writeBigInt64BE(BigInt(from), BATCH.baseOffset);
    return bytes;
  }

  /** A response with the records of several partitions; the fetcher releases it. */
  function response(pool: BufferPool, parts: readonly Buffer[]): { frame: Buffer; records: Buffer[] } {
    const all = Buffer.concat(parts);
    const frame = pool.acquire(all.length);
    all.copy(frame);
    let at = 0;
    const records = parts.map((part) => {
      at += part.length;
      return frame.subarray(at - part.length, at);
    });
    return { frame, records };
  }

  const bufferOn = (pool: BufferPool, partition: number) =>
    new FetchBuffer({ topic: 't', partition, maxBatchBytes: 60 * KIB, bufferPool: pool });

  /** Whether the memory of a response is reused for the next one of its size. */
  const isFree = (pool: BufferPool, frame: Buffer) => pool.acquire(frame.length).buffer === frame.buffer;

  it('stay valid until the last handler asks for the next batch, and no longer', async () => {
    const pool = new BufferPool();
    const [a, b] = [bufferOn(pool, 0), bufferOn(pool, 1)];
    const { frame, records } = response(pool, [await batchOf(0, 40), await batchOf(0, 80)]);
    a.accept(records[0] as Buffer, 40);
    b.accept(records[1] as Buffer, 80);
    pool.release(frame);
    const expected = (from: number, batch: RecordBatch | undefined) =>
      numbered(from, from + (batch?.count ?? 0)).map(({ value }) => value.toString());
    let next = 0;
    for (let batch: RecordBatch | undefined; next < 80; next += batch?.count ?? 0) {
      batch = await b.take();
      expect(texts(batch as RecordBatch)).toEqual(expected(next, batch));
    }
    const one = await a.take();
    const two = await a.take();
    expect((one?.count ?? 0) + (two?.count ?? 0)).toBe(40);
    // Both buffers have returned their last batch.
    expect(isFree(pool, frame)).toBe(false);
    b.close();
    await b.take();
    expect(isFree(pool, frame)).toBe(false);
    expect(texts(two as RecordBatch)).toEqual(expected(one?.count ?? 0, two));
    a.close();
    await a.take();
    expect(isFree(pool, frame)).toBe(true);
  });

  it('do not retain a large response when they are few', async () => {
    const pool = new BufferPool();
    const [few, many] = [bufferOn(pool, 0), bufferOn(pool, 1)];
    const { frame, records } = response(pool, [await batchOf(0, 20), await batchOf(0, 200)]);
    few.accept(records[0] as Buffer, 20);
    many.accept(records[1] as Buffer, 200);
    pool.release(frame);
    for (let taken = 0; taken < 200; ) taken += (await many.take())?.count ?? 0;
    many.close();
    await many.take();
    expect(isFree(pool, frame)).toBe(true);
    frame.fill(0);
    expect(texts((await few.take()) as RecordBatch)).toEqual(numbered(0, 20).map(({ value }) => value.toString()));
  });

  it('that are never taken leave their memory to the garbage collector', async () => {
    const pool = new BufferPool();
    const buffer = bufferOn(pool, 0);
    const { frame, records } = response(pool, [await batchOf(0, 80)]);
    buffer.accept(records[0] as Buffer, 80);
    pool.release(frame);
    await buffer.take();
    buffer.close();
    expect(await buffer.take()).toBeUndefined();
    expect(isFree(pool, frame)).toBe(false);
  });
});
