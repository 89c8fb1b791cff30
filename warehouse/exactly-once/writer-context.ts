import type { Clock } from '../../core/index.js';
import type { PartitionStore, WriterEvent } from './batch.js';
import type { BlockStore } from './block-store.js';

/** What the steps of writing one partition share. */
export interface WriterContext {
  readonly partition: PartitionStore;
  /** ClickHouse shards, by number. */
  readonly shards: readonly BlockStore[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly onEvent: (event: WriterEvent) => void;
  /** Aborted when the writer gives up what is under way. */
  readonly signal: AbortSignal;
  readonly timing: WriterTiming;
}

export interface WriterTiming {
  /** Delays between tries when ClickHouse fails: full jitter up to base × 2^try, at most cap, milliseconds. */
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
  /** How long a query of an earlier try may go on before it is killed, milliseconds. */
  readonly killAfterMs: number;
  /**
   * Ownership that was confirmed longer ago than this, or than three quarters of the time for which the partition is sure to be
   * ours, is confirmed again before anything is sent, milliseconds.
   */
  readonly ownershipMs: number;
}

export const DEFAULT_TIMING: WriterTiming = {
  retryBaseMs: 200,
  retryCapMs: 5000,
  killAfterMs: 5000,
  ownershipMs: 5000,
};
