import { IntegrityError } from '../../../core/index.js';
import type { ConsumerHandler } from '../../bus.js';
import { LogReplacedError, PartitionLostError } from '../../errors.js';
import type { BufferPool } from '../protocol/buffer-pool.js';
import { FetchBuffer } from './fetch-buffer.js';
import type { OwnedPartition } from './owned-partition.js';

/** Fetches the partitions between `add` and `remove`. */
export interface PartitionFetcher {
  add(consumer: PartitionConsumer): void;
  remove(consumer: PartitionConsumer): void;
  /** A batch was taken from a buffer: it may have capacity again. */
  wake(): void;
}

/** Consumes one partition from its assignment to its revocation: passes fetched batches to the handler, one at a time. */
export class PartitionConsumer {
  readonly buffer: FetchBuffer;
  /** The node to fetch from; undefined while it is not known. */
  leader: number | undefined;
  #lost = false;

  constructor(
    readonly partition: OwnedPartition,
    readonly kafkaTopic: string,
    private readonly handler: ConsumerHandler,
    options: { readonly maxBatchBytes: number; readonly bufferPool: BufferPool },
  ) {
    const { topic, partition: number } = partition;
    this.buffer = new FetchBuffer({ ...options, topic, partition: number });
  }

  /** Passes no more batches; `run` resolves when the handler is done. */
  end(): void {
    this.buffer.close();
  }

  /** The partition may be assigned to another consumer now. */
  lose(): void {
    this.#lost = true;
    this.partition.release();
    this.buffer.close();
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** Resolves after `onRevoked`; rejects with the error of the handler or the log. */
  async run(fetcher: PartitionFetcher): Promise<void> {
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
      // A handler that stops because its partition was lost or its log replaced is not a failure.
      const expected = error instanceof LogReplacedError || (error instanceof PartitionLostError && this.#lost);
      if (!expected) throw error;
    } finally {
      this.partition.release();
    }
  }

  async #handOver(from: number, fetcher: PartitionFetcher): Promise<void> {
    let next = from;
    for (let batch = await this.buffer.take(); batch; batch = await this.buffer.take()) {
      fetcher.wake();
      if (batch.firstOffset !== next) {
        const { topic, partition } = this.partition;
        throw new IntegrityError(`received offset ${batch.firstOffset} of ${topic}/${partition}, expected ${next}`);
      }
      next += batch.count;
      await this.handler.onBatch(this.partition, batch, this.buffer.lag(next));
    }
  }
}
