import { deferred } from '../../core/index.js';

/** Approximate maximum bytes of rows, of one batch and of all batches that grow. */
const MAX_BATCH_BYTES = 48e6;
const MAX_TOTAL_BYTES = 112e6;
/** Partitions with less than this in memory are ignored when the total is divided. */
const MIN_COUNTED_BYTES = 1e6;
/** While all partitions together have this much in memory, one of them at a time takes records. */
const MAX_BYTES_IN_MEMORY = 144e6;
/** Bytes above that for partitions with less than an even part of them: a shard that is down stops no other shard's. */
const RESERVED_BYTES = 32e6;

/** A partition that has rows in memory. */
export interface MemoryUser {
  /** Bytes of rows and of pieces of bodies, in the batches that are being built or written. */
  readonly bytesInMemory: number;
  /** Whether a body waits for more of its pieces: its batch cannot end before they are read. */
  readonly awaitsPieces: boolean;
}

/**
 * Divides a worker's memory evenly among the partitions that have rows: few busy partitions write large batches, many
 * write small ones, and the total stays the same. A large body may exceed a share; then the other partitions wait.
 */
export class BatchBudget {
  readonly #users = new Set<MemoryUser>();
  #changed = deferred();
  /** May take records while the others wait: until its body is complete. */
  #completing: MemoryUser | undefined;
  #stopping = false;

  constructor(private readonly reservedBytes = RESERVED_BYTES) {}

  add(user: MemoryUser): void {
    this.#users.add(user);
  }

  remove(user: MemoryUser): void {
    this.#users.delete(user);
    this.changed();
  }

  /** Current maximum size of a batch, bytes of rows. */
  get share(): number {
    let counted = 0;
    for (const { bytesInMemory } of this.#users) if (bytesInMemory > MIN_COUNTED_BYTES) counted += 1;
    return Math.min(MAX_BATCH_BYTES, MAX_TOTAL_BYTES / Math.max(1, counted));
  }

  /** Whether the user may take records now. */
  admits(user: MemoryUser): boolean {
    if (this.#completing && !(this.#users.has(this.#completing) && this.#completing.awaitsPieces)) {
      this.#completing = undefined;
    }
    if (this.#stopping || this.#bytesInMemory < MAX_BYTES_IN_MEMORY) return true;
    if (user.bytesInMemory < this.reservedBytes / this.#users.size) return true;
    if (user.awaitsPieces) this.#completing ??= user;
    return this.#completing === user;
  }

  /** Resolves when `admits` may have another result. */
  get change(): Promise<void> {
    return this.#changed.promise;
  }

  /** Call when a user has released memory or has all pieces of a body, or when it no longer waits. */
  changed(): void {
    this.#changed.resolve();
    this.#changed = deferred();
  }

  /** From now on no user waits. */
  stop(): void {
    this.#stopping = true;
    this.changed();
  }

  get #bytesInMemory(): number {
    let bytes = 0;
    for (const user of this.#users) bytes += user.bytesInMemory;
    return bytes;
  }
}
