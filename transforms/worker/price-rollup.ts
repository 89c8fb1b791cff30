import { type Clock, describeError, type Logger, TOPICS } from '../../core/index.js';
import type { ShardConnection } from '../../warehouse/index.js';
import { completeBlocks, rollUpNextBlocks } from './roll-up-blocks.js';

/** A partition of the order book topic that this worker owns. */
interface OwnedPartition {
  readonly log: string;
  readonly partition: number;
  /** The offset before which every record is committed. */
  readonly committed: () => number;
  /** The shards that may have its rows. */
  readonly shards: () => Promise<readonly ShardConnection[]>;
  /** Rejects when another worker owns it. */
  readonly assertOwned: () => Promise<void>;
}

const CHECK_MS = 1000;
const RETRY_MS = 10_000;
/** After a statement the rollup pauses for this many times its duration: inserts have priority. */
const PAUSE_FACTOR = 20;

/**
 * Aggregates ticks into `price_hours`, block by block, when all records of a block are committed. It changes no answer: the
 * views read the ticks of other blocks from `price_ticks`. So an error is logged and tried again, and never stops the worker.
 */
export class PriceRollup {
  readonly #partitions = new Map<number, OwnedPartition>();
  /** Number of complete blocks of a partition when none was left to aggregate. */
  readonly #done = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: { readonly log: Logger; readonly clock: Clock; readonly signal: AbortSignal },
  ) {}

  /** Takes over a partition. */
  add(partition: OwnedPartition): void {
    this.#partitions.set(partition.partition, partition);
    if (this.#timer === undefined) this.#schedule(CHECK_MS);
  }

  /** Releases a partition. */
  remove(partition: number): void {
    this.#partitions.delete(partition);
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

  /** Returns false after an error. */
  async #run({ log, partition, committed, shards, assertOwned }: OwnedPartition): Promise<boolean> {
    const { signal } = this.options;
    const before = committed();
    const blocks = completeBlocks(before);
    if (blocks === 0 || this.#done.get(partition) === blocks) return true;
    try {
      const source = { log, partition, shards: await shards() };
      const more = await rollUpNextBlocks(source, { committed: before, assertOwned }, signal);
      if (!more) this.#done.set(partition, blocks);
      return true;
    } catch (error) {
      const cause = describeError(error);
      const at = { topic: TOPICS.orderBook, partition, cause };
      if (!signal.aborted) this.options.log.debug(at, 'price_hours was not extended; trying again');
      return false;
    }
  }
}
