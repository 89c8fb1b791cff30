import type { Registry } from 'prom-client';
import {
  type Bus,
  type ConsumerHandler,
  ensureTopics,
  type Partition,
  PartitionLostError,
  type RecordBatch,
} from '../../bus/index.js';
import {
  type Clock,
  type Component,
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
import { BatchBuilder, type BuilderLimits } from '../batch/batch-builder.js';
import type { SessionProgress } from '../batch/session-progress.js';
import { Privacy } from '../record/privacy.js';
import { TRANSFORM_TABLES } from '../tables/index.js';
import { TRANSFORM_VERSION } from '../version.js';
import { BatchBudget } from './batch-budget.js';
import { assertNoRowsFrom } from './committed-offset-check.js';
import { lagByTopic } from './lag.js';
import { loadProgress } from './load-session-progress.js';
import { lostRangeBlocks } from './lost-range.js';
import { TransformMetrics } from './metrics.js';
import { PartitionPipeline } from './partition-pipeline.js';
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
  /** Creates the writer; tests remove protections from it, to show that each is needed. */
  readonly newWriter?: (options: WriterOptions) => ExactlyOnceWriter;
}

/**
 * Bytes of rows and of pieces in a batch that waits for the pieces of a body: it may be nearly full when the first piece
 * of the largest body arrives, 64 MiB, which is in memory as bytes and as a text, with escapes or in base64.
 */
const MAX_BYTES_WITH_PIECES = 300e6;
/** How long a batch waits for the missing pieces of a body, milliseconds. */
const PIECE_DELAY_MS = 5000;
const TOPIC_NAMES: readonly string[] = Object.values(TOPICS);
/** Batches of these topics are inserted after the configured delay, those of other topics after twice as long. */
const LOW_LATENCY_TOPICS: ReadonlySet<string> = new Set([TOPICS.orderBook, TOPICS.chance]);

/** A member of the consumer group that turns raw records into rows and writes them to ClickHouse, exactly once. */
export class TransformWorker implements Component, ConsumerHandler {
  readonly name = 'transform';
  /** Rejects when the worker cannot continue without breaking a guarantee; the message names the command that helps. */
  readonly failed: Promise<never>;
  readonly #clock: Clock;
  readonly #metrics: TransformMetrics;
  readonly #writer: ExactlyOnceWriter;
  readonly #pipelines = new Map<string, PartitionPipeline>();
  readonly #budget = new BatchBudget();
  /** Ends the consumer. */
  readonly #stop = new AbortController();
  /** Ends everything, when the time for flushing is over. */
  readonly #abandon = new AbortController();
  #consuming: Promise<void> = Promise.resolve();
  readonly #shards: WorkerShards;
  readonly #waiting: WaitingPartitions;
  #fail: (error: unknown) => void = () => undefined;

  constructor(private readonly options: TransformWorkerOptions) {
    const { bus, shards, log, clock = systemClock, metrics, group } = options;
    this.#clock = clock;
    this.#shards = new WorkerShards(shards, log);
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
    this.#waiting = new WaitingPartitions(log, clock);
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
   * Checks the tables and joins the group. Waits while ClickHouse or the bus is unavailable; when only some shards of a
   * cluster are, their partitions wait.
   * @throws UsageError when the tables are not those of this version
   */
  async start(signal: AbortSignal): Promise<void> {
    const { bus, group, topics, log } = this.options;
    const starting = AbortSignal.any([signal, this.#abandon.signal]);
    await this.#waiting.retry('', () => this.#shards.check(), starting);
    await ensureTopics(bus, TOPIC_NAMES, topics, { log, signal: starting });
    starting.throwIfAborted();
    this.#consuming = bus.consume({ topics: TOPIC_NAMES, group }, this, this.#stop.signal).then(
      () => undefined,
      (error) => this.#ended(error),
    );
    log.debug({ group }, 'worker joined');
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Stopped('asked to stop'));
    const timer = setTimeout(() => this.#abandon.abort(new Stopped('asked to stop')), STOP_MS.worker);
    await this.#consuming;
    clearTimeout(timer);
    this.#abandon.abort(new Stopped('asked to stop'));
  }

  health(): Health {
    const partitions = this.#pipelines.size;
    const { cause } = this.#waiting;
    return { ok: cause === undefined, detail: { partitions, ...(cause === undefined ? {} : { cause }) } };
  }

  /** Part of ConsumerHandler: takes a partition over and completes the batch that another worker may have begun. */
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

  /** Part of ConsumerHandler: writes the records that were taken, if there is time, and releases the partition. */
  async onRevoked(partition: Partition): Promise<void> {
    const pipeline = this.#pipelines.get(keyOf(partition));
    this.#pipelines.delete(keyOf(partition));
    await pipeline?.flush().catch(() => undefined);
    await pipeline?.close();
    if (pipeline) this.#budget.remove(pipeline);
    this.#waiting.forget(keyOf(partition));
  }

  async #takeOver(partition: Partition): Promise<number> {
    const { acceptLoss, batchDelayMs, group } = this.options;
    const signal = this.#abandon.signal;
    const { topic, log, partition: number } = partition;
    const source = { topic, log, partition: number };
    const writer = await this.#writer.open(partition, {
      rebuild: (start, end) => this.#rebuild(partition, start, end),
      ...(acceptLoss
        ? {
            acceptLoss: (loss) => {
              this.#reportLoss(partition, loss.start, loss.end, loss.cause);
              return lostRangeBlocks(source, loss);
            },
          }
        : {}),
      signal,
    });
    const owned = { ...source, group };
    await this.#whileOwned(partition, async () => {
      await assertNoRowsFrom(await this.#shards.of(number, signal), owned, writer.nextOffset, signal);
    });
    await this.#whileOwned(partition, () => this.#shards.copySmallTables(source, writer.nextOffset, signal));
    await skipLostRecords(partition, writer, {
      bus: this.options.bus,
      accept: acceptLoss,
      onLoss: ({ start, end, cause }) => this.#reportLoss(partition, start, end, cause),
    });
    const builder = this.#builder(partition, await this.#progressBefore(partition, writer.nextOffset));
    const pipeline = new PartitionPipeline({
      topic,
      partition: number,
      builder,
      writer,
      delayMs: LOW_LATENCY_TOPICS.has(topic) ? batchDelayMs : 2 * batchDelayMs,
      pieceDelayMs: PIECE_DELAY_MS,
      clock: this.#clock,
      onWritten: (built) => this.#metrics.written(topic, built),
      onFailed: (error) => this.#ended(error),
    });
    this.#budget.add(pipeline);
    this.#pipelines.set(keyOf(partition), pipeline);
    return writer.nextOffset;
  }

  #reportLoss({ topic, partition }: Partition, start: number, end: number, cause: string): void {
    this.options.log.warn(
      { topic, partition, start, end, cause },
      'records are lost, which --accept-loss permits; see lost_ranges',
    );
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
    const { bodyDays, usernameKey } = this.options;
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

  /** Retries until ClickHouse answers, while this worker owns the partition; throws other errors. */
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
    this.#abandon.abort(error);
    this.#fail(error);
  }
}

const NO_LIMITS: BuilderLimits = {
  rows: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
  bytesWithPieces: Number.POSITIVE_INFINITY,
  months: Number.POSITIVE_INFINITY,
};

const keyOf = ({ topic, partition }: Pick<Partition, 'topic' | 'partition'>): string => `${topic}/${partition}`;
