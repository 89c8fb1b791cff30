import { describeError, isRetryable, type Logger } from '../../core/index.js';
import { checkColumns, copyToEveryShard, type ShardConnection, shardsHolding } from '../../warehouse/index.js';
import { TRANSFORM_TABLES } from '../tables/index.js';
import type { SourcePartition } from '../tables/row-table.js';

/** The shards that a worker writes to. The tables of each are checked once, before its rows are used. */
export class WorkerShards {
  /** Shards whose tables were not checked yet. */
  readonly #unchecked: Set<ShardConnection>;

  constructor(
    private readonly shards: readonly ShardConnection[],
    private readonly log: Logger,
  ) {
    this.#unchecked = new Set(shards);
  }

  /**
   * Checks every shard that answers.
   * @throws UsageError when the tables are not those of this version; ConnectionError when no shard answers
   */
  async check(): Promise<void> {
    const outcomes = await Promise.allSettled(this.shards.map((shard) => this.#check(shard)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason);
    const worst = failures.find((failure) => !isRetryable(failure));
    if (worst !== undefined || failures.length === outcomes.length) throw worst ?? failures[0];
    for (const failure of failures) this.log.warn(`${describeError(failure)}; its partitions wait until it answers`);
  }

  /** The shards that may hold rows of a partition. Throws ConnectionError when one of them does not respond. */
  async of(partition: number, signal: AbortSignal): Promise<ShardConnection[]> {
    const holders = await shardsHolding(partition, this.shards, signal);
    const own = this.shards.filter((_, number) => holders.includes(number));
    await Promise.all(own.map((shard) => this.#check(shard)));
    return own;
  }

  /** Copies a partition's rows before an offset, of the tables that every shard holds, to shards that lack them. */
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
