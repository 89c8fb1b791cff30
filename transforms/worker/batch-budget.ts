/** Approximate limits: bytes of rows of one batch, and of all batches of the worker. */
const MAX_BATCH_BYTES = 48e6;
const MAX_TOTAL_BYTES = 112e6;
/** A partition with less than this in memory does not count when the total is divided. */
const MIN_COUNTED_BYTES = 1e6;

/** A partition that has rows in memory. */
export interface MemoryUser {
  /** Bytes of rows in the batch that is being built and in those that are being written. */
  readonly bytesInMemory: number;
}

/**
 * Divides a worker's memory evenly among the partitions that have rows: few busy partitions write large batches, many
 * write small ones, and the total stays the same.
 */
export class BatchBudget {
  readonly #users = new Set<MemoryUser>();

  add(user: MemoryUser): void {
    this.#users.add(user);
  }

  remove(user: MemoryUser): void {
    this.#users.delete(user);
  }

  /** How large a batch may be now, bytes of rows. */
  get share(): number {
    let counted = 0;
    for (const { bytesInMemory } of this.#users) if (bytesInMemory > MIN_COUNTED_BYTES) counted += 1;
    return Math.min(MAX_BATCH_BYTES, MAX_TOTAL_BYTES / Math.max(1, counted));
  }
}
