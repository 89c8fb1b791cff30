import type { RecordBatch } from '../../bus.js';
import { Notice } from '../notice.js';
import type { FrameMemory } from '../protocol/frame-memory.js';
import { Bounds } from '../records/bounds.js';
import { RecordSet } from '../records/record-set.js';

/** Records that fill less than one part in so many of an answer's memory are copied, so that they do not keep it all. */
const FEW = 8;

export interface FetchBufferOptions {
  readonly topic: string;
  readonly partition: number;
  /** Upper bound of what `take` answers, bytes of values. */
  readonly maxBatchBytes: number;
  /** What the records that are accepted lie in. */
  readonly memory: FrameMemory;
}

/** What was fetched of one partition and not handed over yet. */
export class FetchBuffer {
  readonly #sets: RecordSet[] = [];
  readonly #arrived = new Notice();
  /** Of the batch that was taken last. */
  readonly #bounds = new Bounds();
  /** The answer that the batch taken last was the end of. */
  #drained: RecordSet | undefined;
  #failure: unknown;
  #closed = false;
  /** The offset after the last record on the bus, as last heard. */
  #end = 0;
  /** Bytes as they came from the broker. */
  bytes = 0;
  /** Where the next fetch begins. */
  fetchOffset = 0;
  /** Since when somebody has been waiting for records, milliseconds of the monotonic clock; undefined while nobody is. */
  waitingSince: number | undefined;

  constructor(private readonly options: FetchBufferOptions) {}

  /**
   * Takes what a fetch at `fetchOffset` brought; answers how many bytes of records there were.
   * @param end the offset after the last record on the bus
   */
  accept(records: Buffer, end: number): number {
    const { topic, partition, memory } = this.options;
    this.#end = end;
    const few = records.length * FEW < records.buffer.byteLength;
    const set = new RecordSet(few ? Buffer.from(records) : records, topic, partition, this.fetchOffset);
    if (set.end === this.fetchOffset) return 0;
    memory.hold(set.bytes);
    this.fetchOffset = set.end;
    this.bytes += set.size;
    this.#sets.push(set);
    this.#arrived.give();
    return set.size;
  }

  /** Ends the waiting of `take` with an error, after what was fetched before. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.#arrived.give();
  }

  /** No more is wanted: `take` answers undefined from now on. */
  close(): void {
    this.#closed = true;
    this.#arrived.give();
  }

  /**
   * What came next, up to the size of a batch; undefined after `close`. Rejects after `fail`. What was answered before
   * must not be read any more: its memory is used again.
   */
  async take(): Promise<RecordBatch | undefined> {
    if (this.#drained) this.options.memory.letGo(this.#drained.bytes);
    this.#drained = undefined;
    for (;;) {
      if (this.#closed) return undefined;
      const batch = this.#gather();
      if (batch) return batch;
      if (this.#failure !== undefined) throw this.#failure;
      this.waitingSince = performance.now();
      await this.#arrived.taken();
      this.waitingSince = undefined;
    }
  }

  /** How many records are on the bus after an offset, as last heard. */
  behind(offset: number): number {
    return Math.max(0, this.#end - offset);
  }

  #gather(): RecordBatch | undefined {
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
