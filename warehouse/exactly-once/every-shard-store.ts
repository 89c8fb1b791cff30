import { isRetryable } from '../../core/index.js';
import type { TableBlock, TableDefinition } from '../table.js';
import type { BatchPlace, BlockStore, InsertRequest } from './block-store.js';
import type { Intent } from './intent.js';

/**
 * The shards of one batch as one store: most tables are on the batch's own shard, small ones on every shard. Each shard
 * knows the batch's token by itself and is looked at by itself: a small table is complete when it is on all of them, and
 * what is sent again changes nothing where it was.
 */
export class EveryShardStore implements BlockStore {
  /**
   * @param home the batch's own shard
   * @param every all shards, that one too
   */
  constructor(
    private readonly home: BlockStore,
    private readonly every: readonly BlockStore[],
    private readonly expected: Intent['n'],
  ) {}

  async insert(block: TableBlock, request: InsertRequest): Promise<void> {
    // All are waited for, so that nothing goes on behind the back of what follows a failure.
    const outcomes = await Promise.allSettled(this.#of(block.table).map((store) => store.insert(block, request)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason);
    if (failures.length > 0) throw failures.find((failure) => !isRetryable(failure)) ?? failures[0];
  }

  /** The shard with doubled rows or with too many, if any; else the one that has fewest. */
  async countPlaces(table: TableDefinition, place: BatchPlace, signal: AbortSignal) {
    const counts = await Promise.all(this.#of(table).map((store) => store.countPlaces(table, place, signal)));
    const expected = this.expected[table.name] ?? 0;
    const wrong = counts.find(({ rows, places }) => places < rows || rows > expected);
    return wrong ?? counts.reduce((least, count) => (count.rows < least.rows ? count : least));
  }

  async countOutdated(block: TableBlock, signal: AbortSignal): Promise<number> {
    const counts = await Promise.all(this.#of(block.table).map((store) => store.countOutdated(block, signal)));
    return Math.max(...counts);
  }

  async feedViews(table: TableDefinition, place: BatchPlace, signal: AbortSignal): Promise<void> {
    await Promise.all(this.#of(table).map((store) => store.feedViews(table, place, signal)));
  }

  async countRunning(queryIds: readonly string[], signal: AbortSignal): Promise<number> {
    const counts = await Promise.all(this.every.map((store) => store.countRunning(queryIds, signal)));
    return counts.reduce((sum, running) => sum + running, 0);
  }

  async kill(queryIds: readonly string[], signal: AbortSignal): Promise<void> {
    await Promise.all(this.every.map((store) => store.kill(queryIds, signal)));
  }

  #of(table: TableDefinition): readonly BlockStore[] {
    return table.onEveryShardFor === undefined ? [this.home] : this.every;
  }
}
