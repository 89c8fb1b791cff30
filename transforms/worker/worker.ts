import type { Registry } from 'prom-client';
import {
  type Bus,
  type ConsumerHandler,
  ensureTopics,
  type Partition,
  PartitionLostError,
  type RecordBatch,
  type TopicOptions,
} from '../../bus/index.js';
import {
  type Clock,
  type Component,
  describeError,
  type Health,
  type Logger,
  OutageLog,
  retry,
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
import { loadProgress } from './load-session-progress.js';
import { lostRangeBlocks } from './lost-range.js';
import { TransformMetrics } from './metrics.js';
import { PartitionPipeline } from './partition-pipeline.js';
import { skipLostRecords } from './skip-lost-records.js';
import { WorkerShards } from './worker-shards.js';

/** How a worker processes records. */
export interface WorkerConfig {
  /** Consumer group. */
  readonly group: string;
  /** Whether it continues after records were lost from the bus. */
  readonly acceptLoss: boolean;
  /** Maximum number of rows in a batch. */
  readonly batchRows: number;
  /** How long a batch of prices or chances collects rows, milliseconds. */
  readonly batchDelayMs: number;
  /** Retention time of bodies in raw_records, days; 0 stores none. */
  readonly bodyDays: number;
  /** Key of the hashes that usernames are stored as; undefined stores them as they are. */
  readonly usernameKey: string | undefined;
  /** For topics that do not exist yet. */
  readonly topics: TopicOptions;
}

export interface TransformWorkerOptions extends WorkerConfig {
  readonly bus: Bus;
  /** ClickHouse shards in their configured order, with the migrations applied. Closed by whoever opened them. */
  readonly shards: readonly ShardConnection[];
  readonly log: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
  /** Makes the writer; tests take protections from it, to see that each is needed. */
  readonly newWriter?: (options: WriterOptions) => ExactlyOnceWriter;
}

/**
 * Bytes of rows and of pieces in a batch that waits for the pieces of a body: it may be nearly full when the first piece
 * of the largest body comes, 64 MiB, which is there as bytes and as a text, with escapes or in base64.
 */
const BYTES_WITH_PIECES = 300e6;
/** How long a batch waits for the missing pieces of a body, milliseconds. */
const PIECE_DELAY_MS = 5000;
const TOPIC_NAMES: readonly string[] = Object.values(TOPICS);
/** What is wanted at once; the rest waits twice as long to be inserted. */
const PROMPT_TOPICS: ReadonlySet<string> = new Set([TOPICS.orderBook, TOPICS.chance]);

/** Makes rows of raw records and brings them into ClickHouse, exactly once: a member of the group of workers. */
export class TransformWorker implements Component, ConsumerHandler {
  readonly name = 'transform';
  /** Rejects when the worker cannot go on: a promise would be broken, and the message says which words to type. */
  readonly failed: Promise<never>;
  readonly #clock: Clock;
  readonly #metrics: TransformMetrics;
  readonly #writer: ExactlyOnceWriter;
  readonly #outage: OutageLog;
  readonly #pipelines = new Map<string, PartitionPipeline>();
  readonly #budget = new BatchBudget();
  /** Ends the consumer; then, when the time for flushing is over, everything. */
  readonly #stop = new AbortController();
  readonly #abandon = new AbortController();
  #consuming: Promise<void> = Promise.resolve();
  readonly #shards: WorkerShards;
  /** Why each partition waits, of those that do. */
  readonly #waiting = new Map<string, string>();
  #fail: (error: unknown) => void = () => undefined;

  constructor(private readonly options: TransformWorkerOptions) {
    const { bus, shards, log, clock = systemClock, metrics, group } = options;
    this.#clock = clock;
    this.#shards = new WorkerShards(shards, log);
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
    this.#outage = new OutageLog(log, 'ClickHouse takes rows again');
    this.#metrics = new TransformMetrics(
      metrics,
      () => lagByTopic(bus, group),
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
   * Checks that the tables are as the code knows them, and joins the group. It waits while ClickHouse or the bus is down;
   * of a cluster's shards that are down, only their partitions do.
   * @throws UsageError when tables and code do not fit
   */
  async start(signal: AbortSignal): Promise<void> {
    const { bus, group, topics, log } = this.options;
    const starting = AbortSignal.any([signal, this.#abandon.signal]);
    await this.#whileAvailable('', () => this.#shards.check(), starting);
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
    const waiting = [...new Set(this.#waiting.values())].join('; ');
    const cause = waiting ? { cause: `ClickHouse takes no rows: ${waiting}` } : {};
    return { ok: waiting === '', detail: { partitions, ...cause } };
  }

  /** Part of ConsumerHandler: takes a partition over, finishing what another worker may have begun. */
  async onAssigned(partition: Partition): Promise<number> {
    try {
      return await this.#takeOver(partition);
    } catch (error) {
      this.#waiting.delete(keyOf(partition));
      if (error instanceof PartitionLostError || this.#abandon.signal.aborted) {
        return (await partition.committed()).offset;
      }
      throw error;
    }
  }

  /** Part of ConsumerHandler. */
  async onBatch(partition: Partition, batch: RecordBatch, behind: number): Promise<void> {
    await this.#pipelines.get(keyOf(partition))?.take(batch, behind);
  }

  /** Part of ConsumerHandler: writes what was taken, when there is time, and lets the partition go. */
  async onRevoked(partition: Partition): Promise<void> {
    const pipeline = this.#pipelines.get(keyOf(partition));
    this.#pipelines.delete(keyOf(partition));
    await pipeline?.flush().catch(() => undefined);
    await pipeline?.close();
    if (pipeline) this.#budget.remove(pipeline);
    this.#waiting.delete(keyOf(partition));
  }

  async #takeOver(partition: Partition): Promise<number> {
    const { acceptLoss, batchDelayMs, group } = this.options;
    const signal = this.#abandon.signal;
    const { topic, log, partition: number } = partition;
    const place = { topic, log, partition: number };
    const writer = await this.#writer.open(partition, {
      rebuild: (start, end) => this.#rebuild(partition, start, end),
      ...(acceptLoss
        ? {
            acceptLoss: (loss) => {
              this.#reportLoss(partition, loss.start, loss.end, loss.cause);
              return lostRangeBlocks(place, loss);
            },
          }
        : {}),
      signal,
    });
    const owned = { ...place, group };
    await this.#whileOwned(partition, async () => {
      await assertNoRowsFrom(await this.#shards.of(number, signal), owned, writer.nextOffset, signal);
    });
    await this.#whileOwned(partition, () => this.#shards.copySmallTables(place, writer.nextOffset, signal));
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
      delayMs: PROMPT_TOPICS.has(topic) ? batchDelayMs : 2 * batchDelayMs,
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
    this.options.log.warn({ topic, partition, start, end, cause }, 'records are lost, as accepted; see lost_ranges');
  }

  async #rebuild(partition: Partition, start: number, end: number): Promise<readonly TableBlock[]> {
    const builder = this.#builder(partition, await this.#progressBefore(partition, start), NO_LIMITS);
    for await (const batch of partition.read(start, end)) builder.add(batch);
    return builder.finish()?.blocks ?? [];
  }

  #progressBefore(partition: Partition, offset: number): Promise<SessionProgress> {
    const { topic, log, partition: number } = partition;
    const place = { topic, log, partition: number };
    const signal = this.#abandon.signal;
    return this.#whileOwned(partition, async () =>
      loadProgress(await this.#shards.of(number, signal), place, offset, signal),
    );
  }

  #builder({ topic, log, partition }: Partition, progress: SessionProgress, limits = this.#limits()): BatchBuilder {
    const { bodyDays, usernameKey } = this.options;
    const privacy = new Privacy(usernameKey);
    return new BatchBuilder({ place: { topic, log, partition }, progress, bodyDays, privacy, limits });
  }

  #limits(): BuilderLimits {
    const budget = this.#budget;
    return {
      rows: this.options.batchRows,
      get bytes() {
        return budget.share;
      },
      bytesWithPieces: BYTES_WITH_PIECES,
      months: BATCH_LIMITS.tablePartitions,
    };
  }

  #onWriterEvent(event: WriterEvent): void {
    if (event.type === 'waiting') {
      this.#waits(keyOf(event), event.cause ?? '');
    } else if (event.type === 'recovering') {
      this.options.log.info({ cause: event.cause }, 'finishing a batch');
    } else {
      this.#available(keyOf(event));
      if (event.type === 'recovered') this.#metrics.recovered.inc({ topic: event.topic });
    }
  }

  /** Tries until ClickHouse is there; other errors are thrown, and so is that the partition is somebody else's. */
  #whileOwned<T>(partition: Partition, work: () => Promise<T>): Promise<T> {
    const attempt = async () => {
      try {
        return await work();
      } catch (error) {
        await partition.assertOwned();
        throw error;
      }
    };
    return this.#whileAvailable(keyOf(partition), attempt, this.#abandon.signal);
  }

  /** Tries until ClickHouse is there; other errors are thrown. */
  async #whileAvailable<T>(what: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const result = await retry(work, {
      attempts: Number.POSITIVE_INFINITY,
      baseMs: 200,
      capMs: 2000,
      signal,
      clock: this.#clock,
      onRetry: (error) => this.#waits(what, describeError(error)),
    });
    this.#available(what);
    return result;
  }

  /** @param what the partition that waits */
  #waits(what: string, cause: string): void {
    this.#waiting.set(what, cause);
    this.#outage.failed(`ClickHouse takes no rows: ${cause}; what is on the bus waits`);
  }

  #available(what: string): void {
    this.#waiting.delete(what);
    if (this.#waiting.size === 0) this.#outage.succeeded();
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

async function lagByTopic(bus: Bus, group: string): Promise<ReadonlyMap<string, number>> {
  const committed = new Map((await bus.committed(group)).map((c) => [`${c.topic}/${c.partition}`, c.offset]));
  const lag = new Map<string, number>();
  for (const { topic, partition, begin, end } of await bus.partitions()) {
    if (!TOPIC_NAMES.includes(topic)) continue;
    const next = committed.get(`${topic}/${partition}`) ?? begin;
    lag.set(topic, (lag.get(topic) ?? 0) + Math.max(0, end - next));
  }
  return lag;
}
