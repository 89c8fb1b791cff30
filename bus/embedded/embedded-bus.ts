import { type Clock, describeError, type Logger, systemClock } from '../../core/index.js';
import type {
  Bus,
  BusRecord,
  Committed,
  ConsumeOptions,
  ConsumerHandler,
  PartitionInfo,
  RecordBatch,
  RecordPosition,
  TopicOptions,
} from '../bus.js';
import { BusClosedError, UnknownTopicError } from '../errors.js';
import { Appender } from './appender.js';
import { Consumer, DEFAULT_BATCH_BYTES } from './consumer.js';
import { Reader } from './reader.js';
import { Retention } from './retention.js';
import { ChangeSignal } from './signal.js';
import { Store } from './store.js';
import { TopicCatalogue } from './topics.js';

export interface EmbeddedBusOptions {
  /** Folder of the log; several processes of one machine may open it at the same time. */
  readonly dir: string;
  /** Largest value of a record, bytes. Default 8 MiB. */
  readonly maxRecordBytes?: number;
  /** Size of LMDB's memory map, bytes; LMDB enlarges it when needed. Default 256 GiB. */
  readonly mapBytes?: number;
  /** Appends are rejected while the disk has less free space than this, bytes. Default 64 MiB. */
  readonly minFreeBytes?: number;
  /** How often retention is applied, milliseconds; 0: never. Default 30 s. */
  readonly retentionEveryMs?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** The embedded log, with its own operations. */
export interface EmbeddedBus extends Bus {
  /** Applies retention now; returns the number of deleted records. It also runs every `retentionEveryMs`. */
  sweep(): Promise<number>;
}

/** Opens, or creates, the embedded log of a folder. Throws `UsageError` when the folder cannot be used. */
export function openEmbeddedBus(options: EmbeddedBusOptions): EmbeddedBus {
  return new LmdbBus(options);
}

class LmdbBus implements EmbeddedBus {
  readonly maxRecordBytes: number;
  readonly #store: Store;
  readonly #changed: ChangeSignal;
  readonly #topics: TopicCatalogue;
  readonly #appender: Appender;
  readonly #reader: Reader;
  readonly #retention: Retention;
  readonly #closing = new AbortController();
  readonly #consuming = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<number> | undefined;

  constructor(options: EmbeddedBusOptions) {
    const { dir, mapBytes = 2 ** 38, minFreeBytes = 2 ** 26, retentionEveryMs = 30_000, clock = systemClock } = options;
    this.maxRecordBytes = options.maxRecordBytes ?? 8 * 2 ** 20;
    this.#store = new Store({ dir, mapBytes, minFreeBytes });
    this.#changed = new ChangeSignal(dir);
    this.#topics = new TopicCatalogue(this.#store);
    this.#appender = new Appender(this.#store, this.#changed, clock, this.maxRecordBytes);
    this.#reader = new Reader(this.#store);
    this.#retention = new Retention(this.#store, this.#topics, clock);
    if (retentionEveryMs > 0) {
      this.#timer = setInterval(() => {
        this.sweep().catch((error) => {
          options.log?.warn({ err: error }, `retention failed; retrying: ${describeError(error)}`);
        });
      }, retentionEveryMs);
      this.#timer.unref();
    }
  }

  async ensureTopic(topic: string, options: TopicOptions): Promise<void> {
    await this.#topics.ensure(topic, options);
  }

  async append(topic: string, records: readonly BusRecord[], signal?: AbortSignal): Promise<RecordPosition[]> {
    this.#assertOpen();
    return this.#appender.append(this.#topics.get(topic), records, signal);
  }

  async consume(options: ConsumeOptions, handler: ConsumerHandler, signal: AbortSignal): Promise<void> {
    this.#assertOpen();
    const parts = { store: this.#store, topics: this.#topics, reader: this.#reader, changed: this.#changed };
    const consumer = new Consumer(parts, options, handler);
    const running = consumer.run(AbortSignal.any([signal, this.#closing.signal]));
    this.#consuming.add(running);
    try {
      await running;
    } finally {
      this.#consuming.delete(running);
    }
  }

  async partitions(): Promise<PartitionInfo[]> {
    return this.#topics.all().flatMap((topic) => this.#topics.extents(topic));
  }

  async committed(group: string): Promise<(Committed & { topic: string; partition: number })[]> {
    return this.#topics.all().flatMap((topic) => {
      const rows = this.#store.commits.getRange({ start: [group, topic.id], end: [group, topic.id + 1] });
      return [...rows.map(({ key, value }) => ({ ...value, topic: topic.name, partition: key[2] }))];
    });
  }

  async *read(topic: string, partition: number, start: number, end: number): AsyncIterable<RecordBatch> {
    const known = this.#topics.get(topic);
    if (partition >= known.partitions) throw new UnknownTopicError(`${topic}/${partition}`, this.#store.dir);
    yield* this.#reader.range(known, partition, start, end, DEFAULT_BATCH_BYTES);
  }

  sweep(): Promise<number> {
    this.#assertOpen();
    this.#sweeping ??= this.#retention.sweep(this.#closing.signal).finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    clearInterval(this.#timer);
    await Promise.allSettled([...this.#consuming, this.#appender.idle(), this.#sweeping]);
    this.#changed.close();
    await this.#store.close();
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new BusClosedError();
  }
}
