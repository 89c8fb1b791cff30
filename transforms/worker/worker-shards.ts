import { describeError, isRetryable, type Logger } from '../../core/index.js';
import { checkColumns, copyToEveryShard, type ShardConnection, shardsHolding } from '../../warehouse/index.js';
import { TRANSFORM_TABLES } from '../tables/index.js';
import type { BatchPlace } from '../tables/row-table.js';

/** The shards that a worker writes to: each is looked at before its rows are relied on, as soon as it answers. */
export class WorkerShards {
  /** Shards whose tables were not looked at yet. */
  readonly #unchecked: Set<ShardConnection>;

  constructor(
    private readonly shards: readonly ShardConnection[],
    private readonly log: Logger,
  ) {
    this.#unchecked = new Set(shards);
  }

  /**
   * Looks at every shard that answers.
   * @throws UsageError when tables and code do not fit; ConnectionError when no shard answers
   */
  async check(): Promise<void> {
    const outcomes = await Promise.allSettled(this.shards.map((shard) => this.#check(shard)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason);
    const worst = failures.find((failure) => !isRetryable(failure));
    if (worst !== undefined || failures.length === outcomes.length) throw worst ?? failures[0];
    for (const failure of failures) this.log.warn(`${describeError(failure)}; its partitions wait for it`);
  }

  /** The shards that may hold rows of a partition. Throws ConnectionError when one of them does not answer. */
  async of(partition: number, signal: AbortSignal): Promise<ShardConnection[]> {
    const homes = await shardsHolding(partition, this.shards, signal);
    const own = this.shards.filter((_, number) => homes.includes(number));
    await Promise.all(own.map((shard) => this.#check(shard)));
    return own;
  }

  /** Shards that came later get what a partition's records became, before an offset, in the tables of every shard. */
  copySmallTables(place: BatchPlace, before: number, signal: AbortSignal): Promise<void> {
    const { shards, log: logger } = this;
    return copyToEveryShard({ ...place, shards, tables: TRANSFORM_TABLES, before, logger, signal });
  }

  async #check(shard: ShardConnection): Promise<void> {
    if (!this.#unchecked.has(shard)) return;
    await checkColumns(shard, TRANSFORM_TABLES);
    this.#unchecked.delete(shard);
  }
}
