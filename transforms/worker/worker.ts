import type { Registry } from 'prom-client';
import {
  type Bus,
  type ConsumerHandler,
  ensureTopics,
  OffsetGoneError,
  type Partition,
  PartitionLostError,
  type RecordBatch,
} from '../../bus/index.js';
import {
  type Clock,
  type Component,
  deferred,
  type Health,
  type Logger,
  STOP_MS,
  Stopped,
  systemClock,
  TOPICS,
} from '../../core/index.js';
import {
  BATCH_LIMITS,
  ExactlyOnceWriter,
  type ShardConnection,
  type TableBlock,
  type WriterEvent,
  type WriterOptions,
} from '../../warehouse/index.js';
import { BatchBuilder, type BuilderLimits, type BuiltBatch } from '../batch/batch-builder.js';
import type { SessionProgress } from '../batch/session-progress.js';
import { Privacy } from '../record/privacy.js';
import { TRANSFORM_TABLES } from '../tables/index.js';
import { TRANSFORM_VERSION } from '../version.js';
import { BatchBudget } from './batch-budget.js';
import { assertNoRowsFrom } from './committed-offset-check.js';
import { lagByTopic } from './lag.js';
import { loadProgress } from './load-session-progress.js';
import { type LostRecords, lostRangeBlocks } from './lost-range.js';
import { TransformMetrics } from './metrics.js';
import { PartitionPipeline } from './partition-pipeline.js';
import { resumePartition } from './resume-partition.js';
import { discardBlocks, PRICE_HOURS } from './roll-up-blocks.js';
import { VOLUME_DAYS } from './roll-up-days.js';
import { TRADE_ROLLUPS } from './roll-up-trades.js';
import { Rollup } from './rollup.js';
import { skipLostRecords } from './skip-lost-records.js';
import { WaitingPartitions } from './waiting-partitions.js';
import type { WorkerConfig } from './worker-config.js';
import { WorkerShards } from './worker-shards.js';

export interface TransformWorkerOptions extends WorkerConfig {
  readonly bus: Bus;
  /** ClickHouse shards in their configured order, with the migrations applied. The caller closes them. */
  readonly shards: readonly ShardConnection[];
  readonly log: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
  /** Creates the writer; tests disable its protections to show that each is needed. */
  readonly newWriter?: (options: WriterOptions) => ExactlyOnceWriter;
}

/**
 * Maximum bytes of rows and pieces in a batch that waits for pieces of a body: it may be nearly full when the first piece
 * of the largest body arrives. That is 64 MiB, in memory as bytes and as text, with escapes or in base64.
 */
const MAX_BYTES_WITH_PIECES = 300e6;
/** How long the first batch of a partition grows after the worker took it over, milliseconds. */
const FIRST_BATCH_DELAY_MS = 250;
/** How long a batch waits for the next piece of a body, milliseconds. */
const PIECE_DELAY_MS = 5000;
const TOPIC_NAMES: readonly string[] = Object.values(TOPICS);
/** Batches of these topics are inserted after the configured delay, those of other topics after twice the delay. */
const LOW_LATENCY_TOPICS: ReadonlySet<string> = new Set([TOPICS.orderBook, TOPICS.chance]);

/** A member of the consumer group that turns raw records into rows and writes them to ClickHouse, exactly once. */
export class TransformWorker implements Component, ConsumerHandler {
  readonly name = 'transform';
  /** Rejects when the worker cannot continue without breaking a guarantee; the message says what to do. */
  readonly failed: Promise<never>;
  readonly #failure = deferred<never>();
  readonly #clock: Clock;
  readonly #metrics: TransformMetrics;
  readonly #writer: ExactlyOnceWriter;
  readonly #pipelines = new Map<string, PartitionPipeline>();
  readonly #budget = new BatchBudget();
  /** Partitions whose rows are being written again, or were when they were last owned, and the offset at which that ends. */
  readonly #rebuilding = new Map<string, number>();
  /** Aborted to stop the consumer. */
  readonly #stop = new AbortController();
  /** Aborted to stop everything, when the time for flushing is over. */
  readonly #abandon = new AbortController();
  #consuming: Promise<void> = Promise.resolve();
  readonly #shards: WorkerShards;
  readonly #waiting: WaitingPartitions;
  readonly #rollups: readonly Rollup[];

  constructor(private readonly options: TransformWorkerOptions) {
    const { bus, shards, log, clock = systemClock, metrics, group } = options;
    this.#clock = clock;
    this.#shards = new WorkerShards(shards, log);
    this.failed = this.#failure.promise;
    this.failed.catch(() => undefined);
    this.#waiting = new WaitingPartitions(log, clock);
    this.#rollups = [PRICE_HOURS, VOLUME_DAYS, TRADE_ROLLUPS].map(
      (kind) => new Rollup(kind, { log, clock, signal: this.#abandon.signal }),
    );
    this.#metrics = new TransformMetrics(
      metrics,
      () => lagByTopic(bus, TOPIC_NAMES, group),
      () => clock.nowMicros(),
    );
    const { newWriter = (given) => new ExactlyOnceWriter(given) } = options;
    this.#writer = newWriter({
      shards,
      tables: TRANSFORM_TABLES,
      transforms: TRANSFORM_VERSION,
      onEvent: (event) => this.#onWriterEvent(event),
      clock,
    });
  }

  /**
   * Checks the tables and joins the group. Waits while ClickHouse or the bus is unavailable; if only some shards of a cluster
   * are unavailable, their partitions wait.
   * @throws UsageError when the tables are not those of this version
   */
  async start(signal: AbortSignal): Promise<void> {
    const { bus, group, topics, log } = this.options;
    const starting = AbortSignal.any([signal, this.#abandon.signal]);
    await this.#waiting.retry('', () => this.#shards.check(), starting);
    await ensureTopics(bus, TOPIC_NAMES, topics, { log, signal: starting });
    starting.throwIfAborted();
    this.#consuming = this.#consume().catch((error) => this.#ended(error));
    log.debug({ group }, 'worker joined');
  }

  /** Consumes again when retention deleted records that a rebuild was about to read: they are then found to be lost. */
  async #consume(): Promise<void> {
    const { bus, group } = this.options;
    for (;;) {
      try {
        return await bus.consume({ topics: TOPIC_NAMES, group }, this, this.#stop.signal);
      } catch (error) {
        if (!(error instanceof OffsetGoneError) || !this.#rebuilding.has(keyOf(error))) throw error;
      }
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Stopped('stop requested'));
    this.#budget.stop();
    const timer = setTimeout(() => this.#abandon.abort(new Stopped('stop requested')), STOP_MS.worker);
    await this.#consuming;
    clearTimeout(timer);
    this.#abandon.abort(new Stopped('stop requested'));
    await Promise.all(this.#rollups.map((rollup) => rollup.stop()));
  }

  health(): Health {
    const { cause } = this.#waiting;
    const rebuilding = [...this.#pipelines.keys()].filter((key) => this.#rebuilding.has(key)).length;
    const detail = {
      partitions: this.#pipelines.size,
      ...(rebuilding === 0 ? {} : { rebuilding }),
      ...(cause === undefined ? {} : { cause }),
    };
    return { ok: cause === undefined, detail };
  }

  /** Part of ConsumerHandler: takes over a partition and completes a batch that another worker may have begun. */
  async onAssigned(partition: Partition): Promise<number> {
    try {
      return await this.#takeOver(partition);
    } catch (error) {
      this.#waiting.forget(keyOf(partition));
      if (error instanceof PartitionLostError || this.#abandon.signal.aborted) {
        return (await partition.committed()).offset;
      }
      throw error;
    }
  }

  /** Part of ConsumerHandler. */
  async onBatch(partition: Partition, batch: RecordBatch, lag: number): Promise<void> {
    await this.#pipelines.get(keyOf(partition))?.take(batch, lag);
  }

  /** Part of ConsumerHandler: writes the records taken so far, if there is time, and releases the partition. */
  async onRevoked(partition: Partition): Promise<void> {
    const pipeline = this.#pipelines.get(keyOf(partition));
    this.#pipelines.delete(keyOf(partition));
    for (const rollup of this.#rollupsOf(partition.topic)) rollup.remove(partition.partition);
    await pipeline?.flush().catch(() => undefined);
    await pipeline?.close();
    if (pipeline) this.#budget.remove(pipeline);
    this.#waiting.forget(keyOf(partition));
  }

  async #takeOver(partition: Partition): Promise<number> {
    const { bus, acceptLoss, batchDelayMs, group } = this.options;
    const signal = this.#abandon.signal;
    const { topic, log, partition: number } = partition;
    const source = { topic, log, partition: number };
    const resumed = await this.#resume(partition);
    const { storedBefore } = resumed.partition;
    const writer = await this.#writer.open(resumed.partition, {
      rebuild: (start, end) => this.#rebuild(partition, start, end),
      acceptLoss: async (loss) => {
        const gone = loss.start < storedBefore && loss.error instanceof OffsetGoneError;
        return acceptLoss || gone ? this.#lostRows(partition, loss) : undefined;
      },
      signal,
    });
    const owned = { ...source, group };
    await this.#whileOwned(partition, async () => {
      // Rows before `storedBefore` are expected: the writer inserts only missing ones.
      const next = Math.max(writer.nextOffset, storedBefore);
      await assertNoRowsFrom(await this.#shards.of(number, signal), owned, next, signal);
    });
    const write = async (loss: LostRecords) => writer.write({ ...loss, blocks: await this.#lostRows(partition, loss) });
    const rebuilding = writer.nextOffset < storedBefore;
    if (rebuilding && topic === TOPICS.orderBook) await this.#discardRollup(partition, writer.nextOffset);
    if (resumed.loss) await write(resumed.loss);
    await this.#whileOwned(partition, () => this.#shards.copySmallTables(source, writer.nextOffset, signal));
    if (rebuilding) this.#rebuilding.set(keyOf(partition), storedBefore);
    else this.#rebuilding.delete(keyOf(partition));
    await skipLostRecords(partition, writer, {
      bus,
      acceptGone: acceptLoss || rebuilding,
      acceptUnreadable: acceptLoss,
      write,
    });
    const builder = this.#builder(partition, await this.#progressBefore(partition, writer.nextOffset));
    let committed = writer.nextOffset;
    const pipeline = new PartitionPipeline({
      topic,
      partition: number,
      builder,
      writer,
      budget: this.#budget,
      delayMs: LOW_LATENCY_TOPICS.has(topic) ? batchDelayMs : 2 * batchDelayMs,
      firstDelayMs: Math.min(FIRST_BATCH_DELAY_MS, batchDelayMs),
      pieceDelayMs: PIECE_DELAY_MS,
      clock: this.#clock,
      onWritten: (built) => {
        committed = built.end + 1;
        this.#written(partition, built);
      },
      onFailed: (error) => this.#ended(error),
    });
    this.#budget.add(pipeline);
    this.#pipelines.set(keyOf(partition), pipeline);
    for (const rollup of this.#rollupsOf(topic)) {
      rollup.add({
        log,
        partition: number,
        committed: () => committed,
        isLagging: () => pipeline.isLagging,
        shards: () => this.#shards.of(number, signal),
        assertOwned: () => partition.assertOwned(),
      });
    }
    return writer.nextOffset;
  }

  #rollupsOf(topic: string): Rollup[] {
    return this.#rollups.filter(({ kind }) => kind.topic === topic);
  }

  /** Rows from `offset` on are written again: what `price_hours` holds of them no longer counts. */
  #discardRollup(partition: Partition, offset: number): Promise<void> {
    const { log, partition: number } = partition;
    const signal = this.#abandon.signal;
    return this.#whileOwned(partition, async () =>
      discardBlocks({ log, partition: number, shards: await this.#shards.of(number, signal) }, offset, signal),
    );
  }

  /** Verifies that ClickHouse has the rows before the committed offset, and sets it back if `--rebuild` is given. */
  #resume(partition: Partition) {
    const { bus, rebuild, acceptLoss, log } = this.options;
    const signal = this.#abandon.signal;
    return this.#whileOwned(partition, async () =>
      resumePartition(partition, {
        bus,
        holders: await this.#shards.holding(partition.partition, signal),
        rebuild,
        acceptLoss,
        awaitInserts: () => this.#writer.awaitInserts(partition, signal),
        onRebuild: (range) =>
          log.warn({ topic: partition.topic, partition: partition.partition, ...range }, 'rebuilding'),
        signal,
      }),
    );
  }

  /** The row that records a loss. */
  #lostRows(partition: Partition, loss: LostRecords): Promise<readonly TableBlock[]> {
    const { bus, log } = this.options;
    const { topic, partition: number } = partition;
    const { start, end, cause } = loss;
    log.warn({ topic, partition: number, start, end, cause }, 'records are lost; see lost_ranges');
    const signal = this.#abandon.signal;
    return this.#whileOwned(partition, async () => {
      const holders = await this.#shards.holding(number, signal);
      return lostRangeBlocks(partition, loss, { bus, holders, clock: this.#clock, signal });
    });
  }

  #written(partition: Partition, built: BuiltBatch): void {
    const { topic, partition: number } = partition;
    this.#metrics.written(topic, built);
    const to = this.#rebuilding.get(keyOf(partition));
    if (to === undefined || built.end + 1 < to) return;
    this.#rebuilding.delete(keyOf(partition));
    this.options.log.info({ topic, partition: number, to: to - 1 }, 'rebuilt');
  }

  async #rebuild(partition: Partition, start: number, end: number): Promise<readonly TableBlock[]> {
    const builder = this.#builder(partition, await this.#progressBefore(partition, start), NO_LIMITS);
    for await (const batch of partition.read(start, end)) builder.add(batch);
    return builder.finish()?.blocks ?? [];
  }

  #progressBefore(partition: Partition, offset: number): Promise<SessionProgress> {
    const { topic, log, partition: number } = partition;
    const source = { topic, log, partition: number };
    const signal = this.#abandon.signal;
    return this.#whileOwned(partition, async () =>
      loadProgress(await this.#shards.of(number, signal), source, offset, signal),
    );
  }

  #builder({ topic, log, partition }: Partition, progress: SessionProgress, limits = this.#limits()): BatchBuilder {
    const { keepBodies, bodyRetentionDays, usernameKey } = this.options;
    const bodyDays = keepBodies ? bodyRetentionDays : 0;
    const privacy = new Privacy(usernameKey);
    return new BatchBuilder({ source: { topic, log, partition }, progress, bodyDays, privacy, limits });
  }

  #limits(): BuilderLimits {
    const budget = this.#budget;
    return {
      rows: this.options.batchRows,
      get bytes() {
        return budget.share;
      },
      bytesWithPieces: MAX_BYTES_WITH_PIECES,
      months: BATCH_LIMITS.tablePartitions,
    };
  }

  #onWriterEvent(event: WriterEvent): void {
    if (event.type === 'waiting') {
      this.#waiting.add(keyOf(event), event.cause ?? '');
    } else if (event.type === 'recovering') {
      this.options.log.info({ cause: event.cause }, 'completing a batch');
    } else {
      this.#waiting.resume(keyOf(event));
      if (event.type === 'recovered') this.#metrics.recovered.inc({ topic: event.topic });
    }
  }

  /** Retries until ClickHouse responds, while this worker owns the partition; throws other errors. */
  #whileOwned<T>(partition: Partition, work: () => Promise<T>): Promise<T> {
    const attempt = async () => {
      try {
        return await work();
      } catch (error) {
        await partition.assertOwned();
        throw error;
      }
    };
    return this.#waiting.retry(keyOf(partition), attempt, this.#abandon.signal);
  }

  #ended(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(error);
    this.#budget.stop();
    this.#abandon.abort(error);
    this.#failure.reject(error);
  }
}

const NO_LIMITS: BuilderLimits = {
  rows: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
  bytesWithPieces: Number.POSITIVE_INFINITY,
  months: Number.POSITIVE_INFINITY,
};

const keyOf = ({ topic, partition }: Pick<Partition, 'topic' | 'partition'>): string => `${topic}/${partition}`;
