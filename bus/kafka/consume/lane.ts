import { IntegrityError } from '../../../core/index.js';
import type { ConsumerHandler } from '../../bus.js';
import { LogReplacedError, PartitionLostError } from '../../errors.js';
import type { FrameMemory } from '../protocol/frame-memory.js';
import { FetchBuffer } from './fetch-buffer.js';
import type { OwnedPartition } from './owned-partition.js';

/** Fetches for lanes, from `add` to `remove`. */
export interface LaneFetcher {
  add(lane: Lane): void;
  remove(lane: Lane): void;
  /** Something was taken from a lane's buffer: there may be room again. */
  wake(): void;
}

/** One partition from its assignment to its end: what was fetched of it goes to the handler, one batch after the other. */
export class Lane {
  readonly buffer: FetchBuffer;
  /** The node to fetch from; undefined while it is looked for. */
  leader: number | undefined;
  #lost = false;

  constructor(
    readonly partition: OwnedPartition,
    readonly kafkaTopic: string,
    private readonly handler: ConsumerHandler,
    options: { readonly maxBatchBytes: number; readonly memory: FrameMemory },
  ) {
    const { topic, partition: number } = partition;
    this.buffer = new FetchBuffer({ ...options, topic, partition: number });
  }

  /** Hands no more batches over; `run` ends once the handler is done. */
  end(): void {
    this.buffer.close();
  }

  /** Somebody else may own the partition by now. */
  lose(): void {
    this.#lost = true;
    this.partition.release();
    this.buffer.close();
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** Resolves after `onRevoked`; rejects with what the handler or the log failed with. */
  async run(fetcher: LaneFetcher): Promise<void> {
    try {
      this.buffer.fetchOffset = await this.handler.onAssigned(this.partition);
      fetcher.add(this);
      try {
        await this.#handOver(this.buffer.fetchOffset, fetcher);
      } finally {
        fetcher.remove(this);
        await this.handler.onRevoked(this.partition);
      }
    } catch (error) {
      // Whoever was told that the partition is lost, or its log replaced, and gave up is no failure.
      const expected = error instanceof LogReplacedError || (error instanceof PartitionLostError && this.#lost);
      if (!expected) throw error;
    } finally {
      this.partition.release();
    }
  }

  async #handOver(from: number, fetcher: LaneFetcher): Promise<void> {
    let next = from;
    for (let batch = await this.buffer.take(); batch; batch = await this.buffer.take()) {
      fetcher.wake();
      if (batch.firstOffset !== next) {
        const { topic, partition } = this.partition;
        throw new IntegrityError(`offset ${batch.firstOffset} of ${topic}/${partition} came where ${next} was due`);
      }
      next += batch.count;
      await this.handler.onBatch(this.partition, batch, this.buffer.behind(next));
    }
  }
}
