import { isPermanent } from '../../core/index.js';
import type { TableBlock, TableDefinition } from '../table.js';
import type { BatchRange, BlockStore, InsertRequest } from './block-store.js';
import type { Intent } from './intent.js';

/**
 * The shards of one batch as one store: most tables are on the batch's own shard, small ones on every shard. Each shard
 * deduplicates and is counted independently: a small table is complete when it is complete on all shards, and a resent
 * block changes nothing on those that have it.
 */
export class EveryShardStore implements BlockStore {
  /**
   * @param own the batch's own shard
   * @param every all shards, including that one
   */
  constructor(
    private readonly own: BlockStore,
    private readonly every: readonly BlockStore[],
    private readonly expected: Intent['n'],
  ) {}

  async insert(block: TableBlock, request: InsertRequest): Promise<void> {
    // Waits for all requests, so that none is in flight when a failure is handled.
    const outcomes = await Promise.allSettled(this.#of(block.table).map((store) => store.insert(block, request)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason);
    if (failures.length > 0) throw failures.find(isPermanent) ?? failures[0];
  }

  /** The counts of a shard with duplicate or surplus rows, if any; else of the shard with the fewest rows. */
  async countPositions(table: TableDefinition, range: BatchRange, signal: AbortSignal) {
    const counts = await Promise.all(this.#of(table).map((store) => store.countPositions(table, range, signal)));
    const expected = this.expected[table.name] ?? 0;
    const wrong = counts.find(({ rows, positions }) => positions < rows || rows > expected);
    return wrong ?? counts.reduce((fewest, count) => (count.rows < fewest.rows ? count : fewest));
  }

  async countMissing(block: TableBlock, range: BatchRange, signal: AbortSignal): Promise<number> {
    const counts = await Promise.all(this.#of(block.table).map((store) => store.countMissing(block, range, signal)));
    return Math.max(...counts);
  }

  async countOutdated(block: TableBlock, signal: AbortSignal): Promise<number> {
    const counts = await Promise.all(this.#of(block.table).map((store) => store.countOutdated(block, signal)));
    return Math.max(...counts);
  }

  async feedViews(table: TableDefinition, range: BatchRange, signal: AbortSignal): Promise<void> {
    await Promise.all(this.#of(table).map((store) => store.feedViews(table, range, signal)));
  }

  async countRunning(queryIds: readonly string[], signal: AbortSignal): Promise<number> {
    const counts = await Promise.all(this.every.map((store) => store.countRunning(queryIds, signal)));
    return counts.reduce((sum, running) => sum + running, 0);
  }

  async kill(queryIds: readonly string[], signal: AbortSignal): Promise<void> {
    await Promise.all(this.every.map((store) => store.kill(queryIds, signal)));
  }

  #of(table: TableDefinition): readonly BlockStore[] {
    return table.onEveryShardFor === undefined ? [this.own] : this.every;
  }
}
