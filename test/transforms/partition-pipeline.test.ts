import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../core/index.js';
import { PartitionPipeline } from '../../transforms/partition-pipeline.js';
import type { Batch } from '../../warehouse/index.js';
import { builder, priceRecord, recordBatch } from './support.js';

const DELAY_MS = 500;

/** A pipeline whose batches are taken note of: what and when, milliseconds from now. */
function pipeline() {
  const startedAt = Date.now();
  const written: { readonly records: number; readonly atMs: number }[] = [];
  const done = () => Promise.resolve();
  const write = ({ start, end }: Batch) => {
    written.push({ records: end - start + 1, atMs: Date.now() - startedAt });
    return done();
  };
  const it = new PartitionPipeline({
    topic: 'chancery.order-book',
    partition: 0,
    builder: builder(),
    writer: { nextOffset: 0, write, ready: done, flush: done, close: done },
    delayMs: DELAY_MS,
    pieceDelayMs: 5000,
    clock: { ...systemClock, nowMs: () => Date.now() },
    onWritten: () => undefined,
    onFailed: (error) => expect.unreachable(String(error)),
  });
  return { it, written };
}

const records = (count: number, from: number) =>
  recordBatch(
    Array.from({ length: count }, (_, i) => priceRecord(from + i + 1)),
    from,
  );

describe('a batch that waits to grow', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is written after the delay when it holds many records', async () => {
    const { it: pipe, written } = pipeline();
    await pipe.take(records(300, 0), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    expect(written).toEqual([{ records: 300, atMs: DELAY_MS }]);
    await pipe.close();
  });

  it('waits twice as long while it holds few, with those that come meanwhile', async () => {
    const { it: pipe, written } = pipeline();
    await pipe.take(records(5, 0), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS + 200);
    await pipe.take(records(6, 5), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    expect(written).toEqual([{ records: 11, atMs: 2 * DELAY_MS }]);
    await pipe.close();
  });

  it('waits four times as long while more records wait on the bus, and no longer once none does', async () => {
    const { it: pipe, written } = pipeline();
    await pipe.take(records(300, 0), 1000);
    await vi.advanceTimersByTimeAsync(4 * DELAY_MS);
    expect(written).toEqual([{ records: 300, atMs: 4 * DELAY_MS }]);
    await pipe.take(records(300, 300), 700);
    await vi.advanceTimersByTimeAsync(1.5 * DELAY_MS);
    await pipe.take(records(700, 600), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    expect(written[1]).toEqual({ records: 1000, atMs: 6 * DELAY_MS });
    await pipe.close();
  });
});
