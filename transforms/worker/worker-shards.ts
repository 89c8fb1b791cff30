import { describeError, isRetryable, type Logger } from '../../core/index.js';
import { checkColumns, copyToEveryShard, type ShardConnection, shardsHolding } from '../../warehouse/index.js';
import { TRANSFORM_TABLES } from '../tables/index.js';
import type { SourcePartition } from '../tables/row-table.js';

/** The shards that a worker writes to. The tables of each are checked once, before they are used. */
export class WorkerShards {
  /** Shards whose tables have not been checked. */
  readonly #unchecked: Set<ShardConnection>;

  constructor(
    private readonly shards: readonly ShardConnection[],
    private readonly log: Logger,
  ) {
    this.#unchecked = new Set(shards);
  }

  /**
   * Checks every shard that responds.
   * @throws UsageError when the tables are not those of this version; ConnectionError when no shard responds
   */
  async check(): Promise<void> {
    const outcomes = await Promise.allSettled(this.shards.map((shard) => this.#check(shard)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason);
    const worst = failures.find((failure) => !isRetryable(failure));
    if (worst !== undefined || failures.length === outcomes.length) throw worst ?? failures[0];
    for (const failure of failures) this.log.warn(`${describeError(failure)}; its partitions wait until it responds`);
  }

  /** The shards that may have rows of a partition, by number. @throws ConnectionError when one does not respond */
  async holding(partition: number, signal: AbortSignal): Promise<ReadonlyMap<number, ShardConnection>> {
    const numbers = await shardsHolding(partition, this.shards, signal);
    const holders = [...this.shards.entries()].filter(([number]) => numbers.includes(number));
    await Promise.all(holders.map(([, shard]) => this.#check(shard)));
    return new Map(holders);
  }

  /** The same without their numbers. */
  async of(partition: number, signal: AbortSignal): Promise<ShardConnection[]> {
    return [...(await this.holding(partition, signal)).values()];
  }

  /** Copies a partition's rows before an offset, of tables that are on every shard, to shards that do not have them. */
  copySmallTables(source: SourcePartition, before: number, signal: AbortSignal): Promise<void> {
    const { shards, log: logger } = this;
    return copyToEveryShard({ ...source, shards, tables: TRANSFORM_TABLES, before, logger, signal });
  }

  async #check(shard: ShardConnection): Promise<void> {
    if (!this.#unchecked.has(shard)) return;
    await checkColumns(shard, TRANSFORM_TABLES);
    this.#unchecked.delete(shard);
  }
}
