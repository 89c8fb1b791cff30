import { type Clock, describeError, type Logger } from '../../core/index.js';
import type { ShardConnection } from '../../warehouse/index.js';
import type { RollupKind } from './rollup-kind.js';

/** A partition that this worker owns. */
interface OwnedPartition {
  readonly log: string;
  readonly partition: number;
  /** The committed offset: rows of all records before it are stored. */
  readonly committed: () => number;
  /** Whether more of its records are on the bus, or many in memory. */
  readonly isLagging: () => boolean;
  /** The shards that may have its rows. */
  readonly shards: () => Promise<readonly ShardConnection[]>;
  /** Rejects when another worker owns it. */
  readonly assertOwned: () => Promise<void>;
}

const CHECK_MS = 1000;
const RETRY_MS = 10_000;
/** While any partition lags, a partition waits this long for its rollup: inserts have priority. */
const MAX_WAIT_MS = 600_000;
/** After a statement the rollup pauses for this many times its duration: inserts have priority. */
const PAUSE_FACTOR = 20;

/**
 * Extends a table of aggregates while the worker owns partitions of its topic. It changes no answer: the views aggregate what the
 * table does not hold. So an error is logged and tried again, and never stops the worker.
 */
export class Rollup {
  readonly #partitions = new Map<number, OwnedPartition>();
  /** When a partition was last aggregated, or added. */
  readonly #lastRunMs = new Map<number, number>();
  /** Progress of a partition when nothing was left to aggregate. */
  readonly #done = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(
    readonly kind: RollupKind,
    private readonly options: { readonly log: Logger; readonly clock: Clock; readonly signal: AbortSignal },
  ) {}

  /** Takes over a partition. */
  add(partition: OwnedPartition): void {
    this.#partitions.set(partition.partition, partition);
    this.#lastRunMs.set(partition.partition, this.options.clock.elapsedMs());
    if (this.#timer === undefined) this.#schedule(CHECK_MS);
  }

  /** Releases a partition. */
  remove(partition: number): void {
    this.#partitions.delete(partition);
    this.#lastRunMs.delete(partition);
    this.#done.delete(partition);
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#partitions.clear();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#runAll();
    }, ms);
  }

  async #runAll(): Promise<void> {
    const { clock, signal } = this.options;
    const started = clock.elapsedMs();
    let failed = false;
    for (const partition of [...this.#partitions.values()]) failed = !(await this.#run(partition)) || failed;
    this.#timer = undefined;
    if (signal.aborted || this.#partitions.size === 0) return;
    const pauseMs = PAUSE_FACTOR * (clock.elapsedMs() - started);
    this.#schedule(Math.max(pauseMs, failed ? RETRY_MS : CHECK_MS));
  }

  /** The committed offsets of the partitions of a log. */
  #ownedOf(log: string): ReadonlyMap<number, number> {
    const partitions = [...this.#partitions.values()].filter((owned) => owned.log === log);
    return new Map(partitions.map((owned) => [owned.partition, owned.committed()]));
  }

  /** Returns false after an error. */
  async #run({ log, partition, committed, shards, assertOwned }: OwnedPartition): Promise<boolean> {
    const { clock, signal } = this.options;
    const nowMs = clock.elapsedMs();
    const lagging = [...this.#partitions.values()].some(({ isLagging }) => isLagging());
    if (lagging && nowMs - (this.#lastRunMs.get(partition) ?? nowMs) < MAX_WAIT_MS) return true;
    const before = committed();
    const progress = this.kind.progress(before, clock.nowMicros());
    if (progress === 0 || this.#done.get(partition) === progress) return true;
    try {
      const source = { log, partition, shards: await shards() };
      const more = await this.kind.next(source, { committed: before, owned: this.#ownedOf(log), assertOwned }, signal);
      if (!more) this.#done.set(partition, progress);
      this.#lastRunMs.set(partition, clock.elapsedMs());
      return true;
    } catch (error) {
      const cause = describeError(error);
      const at = { table: this.kind.table, topic: this.kind.topic, partition, cause };
      if (!signal.aborted) this.options.log.debug(at, 'the table of aggregates was not extended; trying again');
      return false;
    }
  }
}
