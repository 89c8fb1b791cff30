import { readRollup, type ShardConnection, sqlFolder } from '../../warehouse/index.js';

/** A partition whose rows are aggregated. */
export interface RollupSource {
  /** Identity of its log. */
  readonly log: string;
  readonly partition: number;
  /** The shards that may have its rows. */
  readonly shards: readonly ShardConnection[];
}

export interface RollupProgress {
  /** The offset before which all records are committed; what it does not cover is left. */
  readonly committed: number;
  /** The same of all partitions of the log that the worker owns, by number; without it only this partition is known. */
  readonly owned?: ReadonlyMap<number, number>;
  /** Rejects when another worker owns the partition: nothing is published then. */
  readonly assertOwned?: () => Promise<void>;
}

/** A table that holds aggregates of the rows of a topic, which a worker extends. */
export interface RollupKind {
  readonly table: string;
  readonly topic: string;
  /** While this is 0, or what it was when nothing was left, there is nothing to aggregate. */
  progress(committed: number, nowMicros: number): number;
  /** Aggregates the next rows. Returns whether more are left. */
  next(source: RollupSource, progress: RollupProgress, signal: AbortSignal): Promise<boolean>;
}

/** Inserts have priority: a rollup uses one processor. Records of a quiet market may be of many months, so partitions are not limited. */
export const ROLLUP_SETTINGS = { max_threads: 1, async_insert: 0, max_partitions_per_insert_block: 0 };

/** The statement of `sql/rollups/`, for the tables of a shard. */
export const rollupStatement = (name: string, { database }: ShardConnection): string =>
  readRollup(sqlFolder(), name, database);
