/** Bytes of rows that one batch may have, about, and all that grow when they began at the same time. */
const BATCH_BYTES = 48e6;
const ALL_BYTES = 112e6;
/** What holds less than this is not counted among those that share. */
const LITTLE_BYTES = 1e6;

/** What a partition has in memory, bytes of rows: in the batch that grows, and in those that are being written. */
export interface Holder {
  readonly heldBytes: number;
}

/**
 * Divides a worker's memory among the partitions that have rows: each batch may grow to an even share of it. A worker
 * with few busy partitions writes large batches, and one with many does not take more than it has.
 */
export class BatchBudget {
  readonly #holders = new Set<Holder>();

  join(holder: Holder): void {
    this.#holders.add(holder);
  }

  leave(holder: Holder): void {
    this.#holders.delete(holder);
  }

  /** How large a batch may be at this moment, bytes of rows. */
  get share(): number {
    let sharing = 0;
    for (const { heldBytes } of this.#holders) if (heldBytes > LITTLE_BYTES) sharing += 1;
    return Math.min(BATCH_BYTES, ALL_BYTES / Math.max(1, sharing));
  }
}
