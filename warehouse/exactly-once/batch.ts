import type { TableBlock } from '../table.js';

/** An offset range of one partition and every row that its records become. */
export interface Batch {
  /** First offset; must be the offset after the previous batch. */
  readonly start: number;
  /** Last offset, inclusive. */
  readonly end: number;
  /** One block per table that gets rows; none when the range yields no rows. */
  readonly blocks: readonly TableBlock[];
}

/**
 * Upper bounds of one batch: rows of one table, bytes of all, and partitions of one table that it touches, each of
 * which takes a place in the deduplication window. Only a batch of a single record may exceed them.
 */
export const BATCH_LIMITS = { rows: 1_000_000, bytes: 256_000_000, tablePartitions: 8 } as const;

/**
 * Makes the rows of exactly [start, end] again, from the bus. Must give the same bytes as the first time: the writer
 * compares row counts with what was announced, and stops when they differ.
 */
export type Rebuild = (start: number, end: number) => Promise<readonly TableBlock[]>;

/** What the writer needs from a partition of a bus while it is assigned (a `Partition` of the bus is one). */
export interface PartitionStore {
  readonly topic: string;
  readonly partition: number;
  /** Identity of the topic's log: a wiped or recreated topic has another. */
  readonly log: string;
  committed(): Promise<{ readonly offset: number; readonly intent?: string }>;
  /** Durable when it resolves; throws when another consumer owns the partition. */
  commit(offset: number, intent?: string): Promise<void>;
  /** Throws unless the partition is still ours at this moment. */
  assertOwned(): Promise<void>;
  /** For so long from a call of `assertOwned` that resolves, nobody can take the partition from us, milliseconds. */
  readonly heldForMs: number;
}

/** Writes the batches of one partition, one after the other. */
export interface PartitionWriter {
  /** The offset that the next batch must start with. */
  readonly nextOffset: number;
  /**
   * Takes the batch; resolves when its rows are in ClickHouse and its end is committed. Do not await it before building
   * the next batch: hand that over while this one is being inserted (await `ready()` first), and its intent travels
   * with this one's commit. After a failure every later call rejects with the same error.
   */
  write(batch: Batch): Promise<void>;
  /** Resolves when at most one batch is under way, so that another may be handed over. Rejects after a failure. */
  ready(): Promise<void>;
  /** Resolves when everything handed over is done. Rejects after a failure. */
  flush(): Promise<void>;
  /** Takes no more batches, gives up what has not been sent; resolves when nothing of it is under way any more. */
  close(): Promise<void>;
}

/** What the writer is doing, for status and metrics. */
export interface WriterEvent {
  readonly topic: string;
  readonly partition: number;
  readonly type: 'written' | 'waiting' | 'recovering' | 'recovered';
  readonly start: number;
  readonly end: number;
  /** Rows of the batch, over all tables. */
  readonly rows: number;
  /** For `waiting` and `recovering`: why, one line; and after how many milliseconds it is tried again. */
  readonly cause?: string;
  readonly delayMs?: number;
}
