import type { Clock } from '../../core/index.js';
import type { PartitionStore, WriterEvent } from './batch.js';
import type { BlockStore } from './block-store.js';

/** The context of writing one partition. */
export interface WriterContext {
  readonly partition: PartitionStore;
  /** ClickHouse shards, by number. */
  readonly shards: readonly BlockStore[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly onEvent: (event: WriterEvent) => void;
  /** Aborted when the writer abandons work in progress. */
  readonly signal: AbortSignal;
  readonly timing: WriterTiming;
}

export interface WriterTiming {
  /** Retry delays when ClickHouse fails: full jitter up to base × 2^attempt, at most cap, milliseconds. */
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
  /** A query of an earlier attempt that runs longer than this is killed, milliseconds. */
  readonly killAfterMs: number;
  /** A confirmed ownership is valid for this long, or for three quarters of `heldForMs` if that is less, milliseconds. */
  readonly ownershipMs: number;
}

export const DEFAULT_TIMING: WriterTiming = {
  retryBaseMs: 200,
  retryCapMs: 5000,
  killAfterMs: 5000,
  ownershipMs: 5000,
};
