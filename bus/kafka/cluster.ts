import { describeError } from '../../core/index.js';
import { BusClosedError, UnknownTopicError } from '../errors.js';
import { BrokerConnection } from './broker-connection.js';
import { type Deadline, isTransient, NoResponseError, retryWithin, TransientError, throwOn } from './faults.js';
import { BufferPool } from './protocol/buffer-pool.js';
import { ERROR } from './protocol/error-codes.js';
import { findCoordinatorRequest } from './protocol/group.js';
import type { ConnectionOptions } from './protocol/kafkajs-connection.js';
import { type BrokerAddress, type Metadata, metadataRequest, type TopicMetadata } from './protocol/metadata.js';
import type { Request } from './protocol/request.js';

/** Some brokers may not know a topic yet that was just created. */
const UNKNOWN_TOPIC_TIMEOUT_MS = 600;
/** Cached metadata older than this is fetched again, milliseconds (Kafka's metadata.max.age.ms). */
const METADATA_MAX_AGE_MS = 60_000;

interface CachedTopic {
  readonly topic: TopicMetadata;
  readonly at: number;
}

/**
 * The brokers of one Kafka cluster: addresses, cached leaders and coordinators, and one connection per broker and
 * purpose, so that a slow response delays no request of another purpose.
 */
export class Cluster {
  readonly #seeds: readonly BrokerAddress[];
  #brokers: readonly BrokerAddress[] = [];
  readonly #connections = new Map<string, BrokerConnection>();
  readonly #topics = new Map<string, CachedTopic>();
  readonly #coordinators = new Map<string, number>();
  /** When a broker last did not respond, on the monotonic clock; it is tried last. */
  readonly #failedAt = new Map<number, number>();
  #closed = false;
  /** Memory of the brokers' responses. */
  readonly bufferPool = new BufferPool();

  /** @param seeds `host:port` of bootstrap brokers; the others are learnt from them */
  constructor(
    readonly seeds: readonly string[],
    private readonly options: Omit<ConnectionOptions, 'bufferPool'>,
  ) {
    this.#seeds = seeds.map((seed, i) => {
      const colon = seed.lastIndexOf(':');
      return { node: -1 - i, host: seed.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(seed.slice(colon + 1)) };
    });
  }

  get name(): string {
    return `Kafka at ${this.seeds.join(',')}`;
  }

  /** Sends a request to one broker. Without a response the cached leaders and coordinators on it are dropped. */
  async send<T>(node: number, purpose: string, request: Request<T>): Promise<T> {
    if (this.#closed) throw new BusClosedError();
    const address = [...this.#brokers, ...this.#seeds].find((b) => b.node === node);
    if (!address) throw new NoResponseError(`${this.name} has no broker ${node} any more`);
    const key = `${address.host}:${address.port}/${purpose}`;
    let connection = this.#connections.get(key);
    if (!connection) {
      connection = new BrokerConnection(address, { ...this.options, bufferPool: this.bufferPool });
      this.#connections.set(key, connection);
    }
    try {
      const response = await connection.send(request);
      this.#failedAt.delete(node);
      return response;
    } catch (error) {
      if (error instanceof NoResponseError) this.#forget(node);
      throw error;
    }
  }

  /** Sends a request to any broker that responds. @throws NoResponseError when none does */
  async sendToAny<T>(request: Request<T>): Promise<T> {
    let failure: unknown;
    for (const node of this.#candidates()) {
      try {
        return await this.send(node, 'meta', request);
      } catch (error) {
        if (!isTransient(error)) throw error;
        failure = error;
      }
    }
    throw new NoResponseError(`no broker of ${this.name} responds: ${describeError(failure)}`, { cause: failure });
  }

  /** Brokers, and the named topics or all (null). */
  async metadata(topics: readonly string[] | null): Promise<Metadata> {
    const metadata = await this.sendToAny(metadataRequest(topics));
    if (metadata.brokers.length > 0) this.#brokers = metadata.brokers;
    const at = performance.now();
    for (const topic of metadata.topics) {
      if (topic.error === ERROR.none) this.#topics.set(topic.name, { topic, at });
      else this.#topics.delete(topic.name);
    }
    return metadata;
  }

  /**
   * A topic's metadata, from the cache unless `fresh`.
   * @throws UnknownTopicError when it does not exist and does not appear within a second
   */
  async topic(
    name: string,
    options: { signal?: AbortSignal | undefined; fresh?: boolean } = {},
  ): Promise<TopicMetadata> {
    const known = this.#topics.get(name);
    if (known && !options.fresh && performance.now() - known.at < METADATA_MAX_AGE_MS) return known.topic;
    try {
      return await retryWithin(
        async () => {
          const { topics } = await this.metadata([name]);
          const [topic] = topics;
          if (!topic) throw new TransientError(`find topic ${name}`, ERROR.unknownTopicOrPartition);
          throwOn(topic.error, `find topic ${name}`);
          return topic;
        },
        { signal: options.signal, withinMs: UNKNOWN_TOPIC_TIMEOUT_MS },
      );
    } catch (error) {
      if (error instanceof TransientError && error.code === ERROR.unknownTopicOrPartition) {
        throw new UnknownTopicError(name, this.name);
      }
      throw error;
    }
  }

  /** Drops the cached leaders of a topic. */
  forgetTopic(name: string): void {
    this.#topics.delete(name);
  }

  /** Sends a request to the leader of a partition; each retry fetches the metadata again. */
  async sendToLeader<T>(
    topic: string,
    partition: number,
    purpose: string,
    make: (topic: TopicMetadata) => { request: Request<T>; check: (response: T) => void },
    deadline: Deadline,
  ): Promise<T> {
    return await retryWithin(async (attempt) => {
      const found = await this.topic(topic, { signal: deadline.signal, fresh: attempt > 0 });
      const { request, check } = make(found);
      const leader = found.leaders[partition];
      if (leader === undefined) throw new UnknownTopicError(`${topic}/${partition}`, this.name);
      if (leader < 0) throw new TransientError(`find the leader of ${topic}/${partition}`, ERROR.leaderNotAvailable);
      const response = await this.send(leader, purpose, request);
      check(response);
      return response;
    }, deadline);
  }

  /** The node of a group's coordinator. */
  async coordinator(group: string): Promise<number> {
    const known = this.#coordinators.get(group);
    if (known !== undefined) return known;
    const found = await this.sendToAny(findCoordinatorRequest(group));
    throwOn(found.error, `find the coordinator of group ${group}`);
    if (!this.#brokers.some((b) => b.node === found.node)) await this.metadata([]);
    this.#coordinators.set(group, found.node);
    return found.node;
  }

  forgetCoordinator(group: string): void {
    this.#coordinators.delete(group);
  }

  /** Closes the connections whose purpose ends with the suffix. */
  closeConnections(suffix: string): void {
    for (const [key, connection] of this.#connections) {
      if (!key.endsWith(suffix)) continue;
      connection.close();
      this.#connections.delete(key);
    }
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#connections.values()) connection.close();
    this.#connections.clear();
  }

  /** All brokers and seeds, those that did not respond last, the most recent failure at the end. */
  #candidates(): number[] {
    const start = Math.floor(Math.random() * Math.max(1, this.#brokers.length));
    const brokers = [...this.#brokers.slice(start), ...this.#brokers.slice(0, start)];
    const others = this.#seeds.filter((s) => !brokers.some((b) => b.host === s.host && b.port === s.port));
    const failedAt = (node: number) => this.#failedAt.get(node) ?? -Infinity;
    return [...brokers, ...others].map((b) => b.node).sort((a, b) => Math.sign(failedAt(a) - failedAt(b)) || 0);
  }

  #forget(node: number): void {
    this.#failedAt.set(node, performance.now());
    for (const [group, coordinator] of this.#coordinators) if (coordinator === node) this.#coordinators.delete(group);
    for (const [name, { topic }] of this.#topics) if (topic.leaders.includes(node)) this.#topics.delete(name);
  }
}
