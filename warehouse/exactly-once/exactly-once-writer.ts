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
  describePlace,
  type PendingBatch,
  RebuildError,
  report,
} from './pending-batch.js';
import { settle } from './settle.js';
import { DEFAULT_TIMING, type WriterContext, type WriterTiming } from './writer-context.js';

export interface WriterOptions {
  /** ClickHouse shards in their configured order; a partition's batches go to one of them. */
  readonly shards: readonly ShardConnection[];
  /** Every table that batches may have rows for. */
  readonly tables: readonly TableDefinition[];
  /** Version of the transforms: a batch that another version began cannot be finished by this one. */
  readonly transforms: string;
  /** What the writer is doing; must not throw. */
  readonly onEvent?: (event: WriterEvent) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly timing?: Partial<WriterTiming>;
}

/** A batch that was begun and cannot be finished, which an operator agreed to lose. */
export interface Loss {
  readonly start: number;
  readonly end: number;
  /** Why, one line. */
  readonly cause: string;
}

export interface OpenOptions {
  readonly rebuild: Rebuild;
  /** Answers the rows that record the loss instead of the lost ones; absent: the writer stops (the default). */
  readonly acceptLoss?: (loss: Loss) => readonly TableBlock[];
  readonly signal: AbortSignal;
}

/**
 * Brings batches into ClickHouse exactly once: for a process killed at any moment, on either side, every row of every
 * batch is there once, unless the writer stopped and said why. What it takes is described in docs/exactly-once.md.
 */
export class ExactlyOnceWriter {
  readonly #shards: readonly BlockStore[];

  /** @param stores instead of the shards' connections: how tests watch the protocol */
  constructor(
    private readonly options: WriterOptions,
    stores?: readonly BlockStore[],
  ) {
    this.#shards = stores ?? options.shards.map((connection) => new ClickHouseStore(connection));
  }

  /**
   * Takes over a partition: finishes the batch that was under way, if any, and answers a writer for the next ones.
   * Waits while ClickHouse is down.
   * @throws IntegrityError when that batch cannot be finished, with the words to type; what the partition throws
   */
  async open(partition: PartitionStore, options: OpenOptions): Promise<PartitionWriter> {
    const abort = new AbortController();
    const context: WriterContext = {
      partition,
      shards: this.#shards,
      clock: this.options.clock ?? systemClock,
      random: this.options.random ?? Math.random,
      onEvent: this.options.onEvent ?? (() => undefined),
      timing: { ...DEFAULT_TIMING, ...this.options.timing },
      signal: AbortSignal.any([options.signal, abort.signal]),
    };
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

  /** Finishes the batch whose intent is committed; answers the next offset. */
  async #recover(context: WriterContext, options: OpenOptions, target: Target): Promise<number> {
    const { partition } = context;
    const committed = await partition.committed();
    if (committed.intent === undefined || committed.intent === '') return committed.offset;
    const { topic, log, partition: number } = partition;
    const intent = decodeIntent(committed.intent, `${topic}/${number}`);
    const place = { topic, log, partition: number, start: committed.offset, end: intent.end };
    try {
      const { transforms, tables } = this.options;
      await this.#finish(context, batchFromIntent(place, intent, transforms, tables, options.rebuild));
    } catch (error) {
      if (!(error instanceof RebuildError) || !options.acceptLoss) throw error;
      const blocks = options.acceptLoss({ start: place.start, end: place.end, cause: error.message });
      const lossIntent = makeIntent({ end: place.end, blocks }, this.options.transforms, target);
      await commitIntent(context, place.start, lossIntent);
      await this.#finish(context, batchInMemory(place, lossIntent, blocks));
    }
    return place.end + 1;
  }

  async #finish(context: WriterContext, batch: PendingBatch): Promise<void> {
    report(context, batch, { type: 'recovering', cause: `${describePlace(batch.place)} was begun and not finished` });
    await settle(context, batch);
    await context.partition.commit(batch.place.end + 1);
    report(context, batch, { type: 'recovered' });
  }
}
