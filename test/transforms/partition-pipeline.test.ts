import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred, systemClock } from '../../core/index.js';
import { BatchBudget } from '../../transforms/worker/batch-budget.js';
import { PartitionPipeline } from '../../transforms/worker/partition-pipeline.js';
import type { Batch } from '../../warehouse/index.js';
import { builder, envelope, priceRecord, recordBatch } from './support.js';

const DELAY_MS = 500;
const FIRST_DELAY_MS = 100;
const PIECE_DELAY_MS = 5000;

/** A pipeline that records its batches and their times, milliseconds from now. */
function pipeline(
  ready: () => Promise<void> = () => Promise.resolve(),
  budget = new BatchBudget(),
  firstDelayMs = DELAY_MS,
) {
  const startedAt = Date.now();
  const written: { readonly records: number; readonly atMs: number }[] = [];
  const deadLetters: number[] = [];
  const done = () => Promise.resolve();
  const write = ({ start, end, blocks }: Batch) => {
    deadLetters.push(blocks.find(({ table }) => table.name === 'dead_letters')?.rows ?? 0);
    written.push({ records: end - start + 1, atMs: Date.now() - startedAt });
    return done();
  };
  const it = new PartitionPipeline({
    topic: 'chancery.order-book',
    partition: 0,
    builder: builder(),
    writer: { nextOffset: 0, write, ready, flush: done, close: done },
    budget,
    delayMs: DELAY_MS,
    firstDelayMs,
    pieceDelayMs: PIECE_DELAY_MS,
    clock: { ...systemClock, elapsedMs: () => Date.now() },
    onWritten: () => undefined,
    onFailed: (error) => expect.unreachable(String(error)),
  });
  return { it, written, deadLetters };
}

const records = (count: number, from: number) =>
  recordBatch(
    Array.from({ length: count }, (_, i) => priceRecord(from + i + 1)),
    from,
  );

/** Pieces of one body of three. */
const pieces = (from: number, to: number) =>
  ['{"t":"PRICES_DATA_DELTA",', '"e":"event",', '"d":[]}']
    .slice(from, to)
    .map((text, i) =>
      envelope({ sequence: 1, sessionId: 'large', piece: { i: from + i, of: 3 }, bodyJson: JSON.stringify(text) }),
    );

describe('a batch that grows', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is written after the delay when it holds many records', async () => {
    const { it: pipe, written } = pipeline();
    await pipe.take(records(300, 0), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    expect(written).toEqual([{ records: 300, atMs: DELAY_MS }]);
    await pipe.close();
  });

  it('is written after twice the delay while it holds few records', async () => {
    const { it: pipe, written } = pipeline();
    await pipe.take(records(300, 0), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    await pipe.take(records(5, 300), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS + 200);
    await pipe.take(records(6, 305), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    expect(written[1]).toEqual({ records: 11, atMs: 3 * DELAY_MS });
    await pipe.close();
  });

  it('is written early when it is the first of the partition and nothing more is on the bus', async () => {
    const { it: pipe, written } = pipeline(undefined, undefined, FIRST_DELAY_MS);
    await pipe.take(records(5, 0), 0);
    await vi.advanceTimersByTimeAsync(FIRST_DELAY_MS);
    await pipe.take(records(6, 5), 0);
    await vi.advanceTimersByTimeAsync(2 * DELAY_MS);
    expect(written).toEqual([
      { records: 5, atMs: FIRST_DELAY_MS },
      { records: 6, atMs: FIRST_DELAY_MS + 2 * DELAY_MS },
    ]);
    await pipe.close();
    const { it: behind, written: large } = pipeline(undefined, undefined, FIRST_DELAY_MS);
    await behind.take(records(5, 0), 1000);
    await vi.advanceTimersByTimeAsync(4 * DELAY_MS);
    expect(large).toEqual([{ records: 5, atMs: 4 * DELAY_MS }]);
    await behind.close();
  });

  it('is written after four times the delay while the bus holds more records, and at once when it does not', async () => {
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

  it('is not written in the middle of a body whose pieces arrive while the writer is busy', async () => {
    const { promise: busy, resolve: free } = deferred();
    const { it: pipe, written, deadLetters } = pipeline(() => busy);
    await pipe.take(records(300, 0), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    await pipe.take(recordBatch(pieces(0, 1), 300), 0);
    free();
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    await pipe.take(recordBatch(pieces(1, 2), 301), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    expect(written).toEqual([]);
    await pipe.take(recordBatch(pieces(2, 3), 302), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    expect(written).toMatchObject([{ records: 303 }]);
    expect(deadLetters).toEqual([0]);
    await pipe.close();
  });

  it('waits for the next piece of a body up to a limit', async () => {
    const { it: pipe, written, deadLetters } = pipeline();
    await pipe.take(records(4, 0), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS / 2);
    await pipe.take(recordBatch(pieces(0, 1), 4), 0);
    await vi.advanceTimersByTimeAsync(PIECE_DELAY_MS - 1);
    await pipe.take(recordBatch(pieces(1, 2), 5), 0);
    await vi.advanceTimersByTimeAsync(PIECE_DELAY_MS / 2);
    // A record that is no piece does not prolong the wait.
    await pipe.take(records(1, 6), 0);
    await vi.advanceTimersByTimeAsync(PIECE_DELAY_MS / 2 - 1);
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    expect(written).toMatchObject([{ records: 7 }]);
    expect(deadLetters).toEqual([1]);
    await pipe.close();
  });

  it('does not write an incomplete body when it is flushed: the next owner reads it again', async () => {
    const { promise: busy, resolve: free } = deferred();
    const { it: pipe, written } = pipeline(() => busy);
    await pipe.take(records(300, 0), 0);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    await pipe.take(recordBatch(pieces(0, 2), 300), 0);
    const flushed = pipe.flush();
    free();
    await flushed;
    await vi.advanceTimersByTimeAsync(2 * PIECE_DELAY_MS);
    expect(written).toEqual([]);
    await pipe.close();
  });

  it('takes no records while other partitions use the memory, and its body waits for its pieces meanwhile', async () => {
    const budget = new BatchBudget(0);
    const other = { bytesInMemory: 0, awaitsPieces: true };
    budget.add(other);
    const { it: pipe, written, deadLetters } = pipeline(undefined, budget);
    budget.add(pipe);
    await pipe.take(recordBatch(pieces(0, 1), 0), 0);
    other.bytesInMemory = 500e6;
    expect(budget.admits(other)).toBe(true);
    const taking = pipe.take(recordBatch(pieces(1, 3), 1), 0);
    await vi.advanceTimersByTimeAsync(3 * PIECE_DELAY_MS);
    expect(written).toEqual([]);
    other.awaitsPieces = false;
    other.bytesInMemory = 0;
    budget.changed();
    await taking;
    await vi.advanceTimersByTimeAsync(2 * DELAY_MS);
    expect(written).toMatchObject([{ records: 3 }]);
    expect(deadLetters).toEqual([0]);
    await pipe.close();
  });

  it('waits no longer for memory when it is closed', async () => {
    const budget = new BatchBudget(0);
    budget.add({ bytesInMemory: 500e6, awaitsPieces: false });
    const { it: pipe, written } = pipeline(undefined, budget);
    budget.add(pipe);
    const taking = pipe.take(records(5, 0), 0);
    await pipe.close();
    await taking;
    expect(written).toEqual([]);
  });

  it('counts the bytes of the growing batch and of those that are being written', async () => {
    const { it: pipe } = pipeline();
    expect(pipe.bytesInMemory).toBe(0);
    await pipe.take(records(300, 0), 0);
    expect(pipe.bytesInMemory).toBeGreaterThan(300 * 100);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    expect(pipe.bytesInMemory).toBe(0);
    await pipe.close();
  });
});
