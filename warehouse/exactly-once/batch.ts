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
 * Upper bounds of one batch: rows per table, bytes of all tables, and partitions of one table that it inserts into. Each
 * partition takes an entry of the deduplication window. Only a batch of a single record may exceed them.
 */
export const BATCH_LIMITS = { rows: 1_000_000, bytes: 256_000_000, tablePartitions: 8 } as const;

/**
 * Rebuilds the rows of exactly [start, end] from the bus. Must return the same bytes as the first time: the writer compares
 * the row counts with the intent and stops when they differ.
 */
export type Rebuild = (start: number, end: number) => Promise<readonly TableBlock[]>;

/** The writer's interface to an assigned partition (implemented by the bus's `Partition`). */
export interface PartitionStore {
  readonly topic: string;
  readonly partition: number;
  /** The topic ID: a topic that is deleted and created again has another. */
  readonly log: string;
  committed(): Promise<{ readonly offset: number; readonly intent?: string; readonly checkpoint?: string }>;
  /** Durable when it resolves; throws when another consumer owns the partition. */
  commit(offset: number, intent?: string, checkpoint?: string): Promise<void>;
  /** Throws unless this consumer still owns the partition. */
  assertOwned(): Promise<void>;
  /** Time after the call of a successful `assertOwned` in which no other consumer is assigned the partition, milliseconds. */
  readonly heldForMs: number;
  /** Rows of records before this offset may be stored already, by batches with other ranges; absent: none may. */
  readonly storedBefore?: number;
}

/** Writes the batches of one partition, one at a time. */
export interface PartitionWriter {
  /** First offset of the next batch. */
  readonly nextOffset: number;
  /**
   * Resolves when the rows of the batch are in ClickHouse and its end is committed. Do not await it before building the
   * next batch: pass that while this one is being inserted (await `ready()` first), so that one commit ends this batch
   * and announces the next. After a failure every later call rejects with the same error.
   */
  write(batch: Batch): Promise<void>;
  /** Resolves when at most one batch is in progress, so that another may be passed. Rejects after a failure. */
  ready(): Promise<void>;
  /** Resolves when all batches are written. Rejects after a failure. */
  flush(): Promise<void>;
  /** Accepts no more batches and abandons those that were not sent; resolves when no request is in flight. */
  close(): Promise<void>;
}

/** The writer's progress, for status and metrics. */
export interface WriterEvent {
  readonly topic: string;
  readonly partition: number;
  readonly type: 'written' | 'waiting' | 'recovering' | 'recovered';
  readonly start: number;
  readonly end: number;
  /** Rows of the batch, over all tables. */
  readonly rows: number;
  /** For `waiting` and `recovering`: the reason, one line, and the delay before the retry, milliseconds. */
  readonly cause?: string;
  readonly delayMs?: number;
}
