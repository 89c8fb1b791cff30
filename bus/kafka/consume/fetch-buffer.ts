import type { RecordBatch } from '../../bus.js';
import { Notice } from '../notice.js';
import { RecordSet } from '../records/record-set.js';

/** What was fetched of one partition and not handed over yet. */
export class FetchBuffer {
  readonly #sets: RecordSet[] = [];
  readonly #arrived = new Notice();
  #failure: unknown;
  #closed = false;
  /** Bytes as they came from the broker. */
  bytes = 0;
  /** Where the next fetch begins. */
  fetchOffset = 0;
  /** Since when somebody has been waiting for records, milliseconds of the monotonic clock; undefined while nobody is. */
  waitingSince: number | undefined;

  constructor(
    private readonly topic: string,
    private readonly partition: number,
    private readonly maxBatchBytes: number,
  ) {}

  /** Takes what a fetch at `fetchOffset` brought; answers how many bytes of records there were. */
  accept(records: Buffer): number {
    const set = new RecordSet(records, this.topic, this.partition, this.fetchOffset);
    if (set.end === this.fetchOffset) return 0;
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

  /** What came next, up to the size of a batch; undefined after `close`. Rejects after `fail`. */
  async take(): Promise<RecordBatch | undefined> {
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

  #gather(): RecordBatch | undefined {
    const [set] = this.#sets;
    const batch = set?.take(this.maxBatchBytes);
    if (set?.drained) {
      this.#sets.shift();
      this.bytes -= set.size;
    }
    return batch;
  }
}
