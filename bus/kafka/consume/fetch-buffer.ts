import type { RecordBatch } from '../../bus.js';
import { AutoResetEvent } from '../auto-reset-event.js';
import type { BufferPool } from '../protocol/buffer-pool.js';
import { Bounds } from '../records/bounds.js';
import { RecordSet } from '../records/record-set.js';

/** Records that fill less than 1/8 of their response's memory are copied, so that they do not retain all of it. */
const COPY_BELOW_FRACTION = 1 / 8;

interface FetchBufferOptions {
  readonly topic: string;
  readonly partition: number;
  /** Upper bound of a batch that `take` returns, bytes of values. */
  readonly maxBatchBytes: number;
  /** Owns the memory of the accepted records. */
  readonly bufferPool: BufferPool;
}

/** Records of one partition that were fetched but not yet passed to the handler. */
export class FetchBuffer {
  readonly #sets: RecordSet[] = [];
  readonly #arrived = new AutoResetEvent();
  /** Bounds of the batch that was taken last. */
  readonly #bounds = new Bounds();
  /** The record set that the last taken batch completed; released by the next `take`. */
  #drained: RecordSet | undefined;
  #failure: unknown;
  #closed = false;
  /** End offset of the partition, from the last fetch. */
  #end = 0;
  /** Buffered bytes, as received from the broker. */
  bytes = 0;
  /** Offset of the next fetch. */
  fetchOffset = 0;
  /** Time since when `take` has waited for records, milliseconds of the monotonic clock; undefined while it does not. */
  waitingSince: number | undefined;

  constructor(private readonly options: FetchBufferOptions) {}

  /**
   * Adds the records of a fetch at `fetchOffset`; returns their size in bytes.
   * @param end end offset of the partition
   */
  accept(records: Buffer, end: number): number {
    const { topic, partition, bufferPool } = this.options;
    this.#end = end;
    const copy = records.length < COPY_BELOW_FRACTION * records.buffer.byteLength;
    const set = new RecordSet(copy ? Buffer.from(records) : records, topic, partition, this.fetchOffset);
    if (set.end === this.fetchOffset) return 0;
    bufferPool.retain(set.bytes);
    this.fetchOffset = set.end;
    this.bytes += set.size;
    this.#sets.push(set);
    this.#arrived.set();
    return set.size;
  }

  /** `take` rejects with this error after the records that were fetched before. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.#arrived.set();
  }

  /** `take` returns undefined from now on. */
  close(): void {
    this.#closed = true;
    this.#arrived.set();
  }

  /**
   * The next records, up to the size of a batch; undefined after `close`. Rejects after `fail`. The previously returned
   * batch must not be read any more: its memory is reused.
   */
  async take(): Promise<RecordBatch | undefined> {
    if (this.#drained) this.options.bufferPool.release(this.#drained.bytes);
    this.#drained = undefined;
    for (;;) {
      if (this.#closed) return undefined;
      const batch = this.#nextBatch();
      if (batch) return batch;
      if (this.#failure !== undefined) throw this.#failure;
      this.waitingSince = performance.now();
      await this.#arrived.wait();
      this.waitingSince = undefined;
    }
  }

  /** Consumer lag: records from this offset to the partition's end, as of the last fetch. */
  lag(offset: number): number {
    return Math.max(0, this.#end - offset);
  }

  #nextBatch(): RecordBatch | undefined {
    const [set] = this.#sets;
    const batch = set?.take(this.options.maxBatchBytes, { bounds: this.#bounds });
    if (set?.drained) {
      this.#sets.shift();
      this.bytes -= set.size;
      this.#drained = set;
    }
    return batch;
  }
}
