import { withTimeout } from '../../core/index.js';
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
import { BusClosedError, RecordTooLargeError } from '../errors.js';
import { Cluster } from './cluster.js';
import { Consumer } from './consume/consumer.js';
import { Names } from './names.js';
import { committedIn, fetchCommitted } from './offsets.js';
import { KAFKA_DEFAULTS, type KafkaBusOptions } from './options.js';
import { readRange } from './range-reader.js';
import { BatchEncoder } from './records/encode.js';
import { TopicProducer } from './topic-producer.js';
import { ensureTopic, listPartitions } from './topics.js';

const DEFAULT_BATCH_BYTES = 4 * 1024 * 1024;
/** Time for members to rejoin during a rebalance; they do so at once unless their process is stopped. */
const REBALANCE_TIMEOUT_MS = 30_000;
const REPLICAS_WAIT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** Callers that wait longer retry `ensureTopic` themselves and log what they wait for. */
const CREATE_TOPIC_TIMEOUT_MS = 10_000;

/** The bus on a Kafka cluster (3.1 or newer). Connects on first use. */
export function openKafkaBus(options: KafkaBusOptions): Bus {
  return new KafkaBus(options);
}

class KafkaBus implements Bus {
  readonly maxRecordBytes: number;
  readonly #options;
  readonly #names: Names;
  readonly #cluster: Cluster;
  readonly #encoder: BatchEncoder;
  readonly #producers = new Map<string, TopicProducer>();
  readonly #consuming = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(given: KafkaBusOptions) {
    const options = { ...KAFKA_DEFAULTS, ...definedOf(given) };
    const { clientId, connectTimeoutMs, requestTimeoutMs, tls, sasl } = options;
    this.#options = options;
    this.maxRecordBytes = options.maxRecordBytes;
    this.#names = new Names(options.prefix);
    this.#cluster = new Cluster(options.brokers, {
      clientId,
      connectTimeoutMs,
      requestTimeoutMs,
      tls,
      sasl: sasl && { mechanism: sasl.mechanism, username: sasl.username, password: sasl.password.reveal() },
    });
    this.#encoder = new BatchEncoder(options.compression);
  }

  async ensureTopic(topic: string, options: TopicOptions): Promise<void> {
    this.#assertOpen();
    const { replication, compression } = this.#options;
    await ensureTopic(
      this.#cluster,
      this.#names.inKafka(topic),
      { ...options, replication, compression },
      { ...this.#deadline, withinMs: Math.min(this.#options.apiTimeoutMs, CREATE_TOPIC_TIMEOUT_MS) },
    );
  }

  async append(topic: string, records: readonly BusRecord[], signal?: AbortSignal): Promise<RecordPosition[]> {
    this.#assertOpen();
    for (const { value } of records) {
      if (value.length > this.maxRecordBytes) throw new RecordTooLargeError(topic, value.length, this.maxRecordBytes);
    }
    if (records.length === 0) return [];
    return await this.#producerOf(topic).append(records, signal);
  }

  async consume(options: ConsumeOptions, handler: ConsumerHandler, signal: AbortSignal): Promise<void> {
    this.#assertOpen();
    const settings = {
      ...this.#options,
      log: this.#options.log,
      rebalanceTimeoutMs: REBALANCE_TIMEOUT_MS,
      defaultBatchBytes: DEFAULT_BATCH_BYTES,
    };
    const consumer = new Consumer(this.#cluster, this.#names, options, handler, settings);
    const running = consumer.run(AbortSignal.any([signal, this.#closing.signal]));
    this.#consuming.add(running);
    try {
      await running;
    } finally {
      this.#consuming.delete(running);
    }
  }

  async partitions(): Promise<PartitionInfo[]> {
    this.#assertOpen();
    return await listPartitions(this.#cluster, this.#names, this.#deadline);
  }

  async committed(group: string): Promise<(Committed & { topic: string; partition: number })[]> {
    this.#assertOpen();
    const kafkaGroup = this.#names.inKafka(group);
    const offsets = await fetchCommitted(this.#cluster, kafkaGroup, null, 'meta', this.#deadline);
    const own = offsets.filter(({ topic, offset }) => offset >= 0 && this.#names.isOurs(topic));
    if (own.length === 0) return [];
    const { topics } = await this.#cluster.metadata([...new Set(own.map((o) => o.topic))]);
    return own.flatMap((fetched) => {
      const log = topics.find((t) => t.name === fetched.topic)?.id;
      const committed = log === undefined ? undefined : committedIn(log, fetched);
      return committed ? [{ ...committed, topic: this.#names.onBus(fetched.topic), partition: fetched.partition }] : [];
    });
  }

  async *read(topic: string, partition: number, start: number, end: number): AsyncIterable<RecordBatch> {
    this.#assertOpen();
    const range = { topic, kafkaTopic: this.#names.inKafka(topic), partition, start, end };
    const { apiTimeoutMs } = this.#options;
    yield* readRange(this.#cluster, range, { maxBatchBytes: DEFAULT_BATCH_BYTES, apiTimeoutMs });
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new BusClosedError());
    const appending = [...this.#producers.values()].map((producer) => producer.idle());
    await Promise.allSettled([...this.#consuming, withTimeout(CLOSE_TIMEOUT_MS, Promise.all(appending))]);
    this.#cluster.close();
  }

  get #deadline() {
    return { withinMs: this.#options.apiTimeoutMs, signal: this.#closing.signal };
  }

  #producerOf(topic: string): TopicProducer {
    let producer = this.#producers.get(topic);
    if (!producer) {
      const { apiTimeoutMs, requestTimeoutMs, log } = this.#options;
      const replicasMs = Math.min(REPLICAS_WAIT_MS, requestTimeoutMs);
      const options = { timeoutMs: apiTimeoutMs, replicasMs, closing: this.#closing.signal, log };
      producer = new TopicProducer(this.#cluster, this.#names.inKafka(topic), this.#encoder, options);
      this.#producers.set(topic, producer);
    }
    return producer;
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new BusClosedError();
  }
}

/** Without undefined values, which would replace the defaults. */
function definedOf<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
