import { type Clock, systemClock } from '../../core/index.js';
import type { ShardConnection } from '../cluster/shard-connection.js';
import type { TableBlock, TableDefinition } from '../table.js';
import type { PartitionStore, PartitionWriter, Rebuild, WriterEvent } from './batch.js';
import type { BlockStore } from './block-store.js';
import { ClickHouseStore } from './clickhouse-store.js';
import { commitIntent } from './commits.js';
import { decodeIntent, makeIntent, type Target } from './intent.js';
import { NotOwnedError } from './ownership.js';
import { QueuedPartitionWriter } from './partition-writer.js';
import {
  batchFromIntent,
  batchInMemory,
  describeRange,
  type PendingBatch,
  RebuildError,
  report,
} from './pending-batch.js';
import { reconcile, waitForInserts } from './reconcile.js';
import { DEFAULT_TIMING, type WriterContext, type WriterTiming } from './writer-context.js';

export interface WriterOptions {
  /** ClickHouse shards in the configured order; all batches of a partition go to one of them. */
  readonly shards: readonly ShardConnection[];
  /** Every table that batches may have rows for. */
  readonly tables: readonly TableDefinition[];
  /** Version of the transforms: a batch that was begun with another version cannot be finished with this one. */
  readonly transforms: string;
  /** Receives the writer's progress; must not throw. */
  readonly onEvent?: (event: WriterEvent) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly timing?: Partial<WriterTiming>;
}

/** A batch that was begun and cannot be finished, and whose loss the operator accepted. */
export interface Loss {
  readonly start: number;
  readonly end: number;
  /** The reason, one line. */
  readonly cause: string;
  /** What `rebuild` threw, if it did. */
  readonly error?: unknown;
}

export interface OpenOptions {
  readonly rebuild: Rebuild;
  /** Returns rows that record the loss, to be written instead of the lost ones; absent or undefined: the writer stops. */
  readonly acceptLoss?: (loss: Loss) => Promise<readonly TableBlock[] | undefined>;
  readonly signal: AbortSignal;
}

/**
 * Writes batches into ClickHouse exactly once: whenever a process on either side is killed, every row of every batch is
 * stored once, or the writer stops and reports why. docs/exactly-once.md describes the protocol.
 */
export class ExactlyOnceWriter {
  readonly #shards: readonly BlockStore[];

  /** @param stores replace the shards' connections in tests */
  constructor(
    private readonly options: WriterOptions,
    stores?: readonly BlockStore[],
  ) {
    this.#shards = stores ?? options.shards.map((connection) => new ClickHouseStore(connection));
  }

  /**
   * Takes over a partition: finishes the batch that its last owner began, if any, and returns a writer for the next ones.
   * Waits while ClickHouse is unavailable.
   * @throws IntegrityError when that batch cannot be finished, with the command to run; the partition's errors
   */
  async open(partition: PartitionStore, options: OpenOptions): Promise<PartitionWriter> {
    const abort = new AbortController();
    const context = this.#contextOf(partition, AbortSignal.any([options.signal, abort.signal]));
    const { transforms } = this.options;
    const target = { shard: partition.partition % this.#shards.length, shards: this.#shards.length };
    let firstOffset: number;
    try {
      firstOffset = await this.#recover(context, options, target);
    } catch (error) {
      throw error instanceof NotOwnedError ? error.cause : error;
    }
    return new QueuedPartitionWriter(context, { transforms, target, abort: () => abort.abort() }, firstOffset);
  }

  /**
   * Resolves when ClickHouse runs no insert of the batch that is begun on the partition, if one is. Call it before that
   * batch is given up: its rows will be written in batches with other ranges.
   */
  async awaitInserts(partition: PartitionStore, signal: AbortSignal): Promise<void> {
    const { offset: start, intent: text } = await partition.committed();
    if (text === undefined || text === '') return;
    const { topic, log, partition: number } = partition;
    const intent = decodeIntent(text, `${topic}/${number}`);
    const range = { topic, log, partition: number, start, end: intent.end };
    await waitForInserts(this.#contextOf(partition, signal), range, intent);
  }

  #contextOf(partition: PartitionStore, signal: AbortSignal): WriterContext {
    return {
      partition,
      shards: this.#shards,
      clock: this.options.clock ?? systemClock,
      random: this.options.random ?? Math.random,
      onEvent: this.options.onEvent ?? (() => undefined),
      timing: { ...DEFAULT_TIMING, ...this.options.timing },
      signal,
    };
  }

  /** Finishes the batch whose intent is committed; returns the next offset. */
  async #recover(context: WriterContext, options: OpenOptions, target: Target): Promise<number> {
    const { partition } = context;
    const committed = await partition.committed();
    if (committed.intent === undefined || committed.intent === '') return committed.offset;
    const { topic, log, partition: number } = partition;
    const intent = decodeIntent(committed.intent, `${topic}/${number}`);
    const range = { topic, log, partition: number, start: committed.offset, end: intent.end };
    try {
      const { transforms, tables } = this.options;
      await this.#finish(context, batchFromIntent(range, intent, transforms, tables, options.rebuild));
    } catch (error) {
      if (!(error instanceof RebuildError)) throw error;
      const { message, cause } = error;
      const blocks = await options.acceptLoss?.({ start: range.start, end: range.end, cause: message, error: cause });
      if (!blocks) throw error;
      const lossIntent = makeIntent({ end: range.end, blocks }, this.options.transforms, target);
      await commitIntent(context, range.start, lossIntent);
      await this.#finish(context, batchInMemory(range, lossIntent, blocks));
    }
    return range.end + 1;
  }

  async #finish(context: WriterContext, batch: PendingBatch): Promise<void> {
    report(context, batch, { type: 'recovering', cause: `${describeRange(batch.range)} was begun and not finished` });
    await reconcile(context, batch);
    await context.partition.commit(batch.range.end + 1);
    report(context, batch, { type: 'recovered' });
  }
}
