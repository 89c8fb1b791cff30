import { describeError } from '../../core/index.js';
import { BusClosedError, UnknownTopicError } from '../errors.js';
import { NoAnswerError, PassingError, type Patience, passes, patiently, throwOn } from './faults.js';
import { Link } from './link.js';
import { ERROR } from './protocol/error-codes.js';
import { FrameMemory } from './protocol/frame-memory.js';
import { findCoordinatorRequest } from './protocol/group.js';
import type { ConnectionOptions } from './protocol/kafkajs-connection.js';
import { type BrokerAddress, type Metadata, metadataRequest, type TopicMetadata } from './protocol/metadata.js';
import type { Request } from './protocol/request.js';

/** A topic that was just created may be unknown to some brokers for a moment. */
const UNKNOWN_TOPIC_PATIENCE_MS = 600;
/** How long a leader that was found is believed without an error that says otherwise, milliseconds. */
const METADATA_AGE_MS = 60_000;

interface Known {
  readonly topic: TopicMetadata;
  readonly at: number;
}

/**
 * The brokers of one Kafka cluster: who they are, who leads what, and a connection to each for each purpose, so that a
 * request which the broker answers late holds up no other.
 */
export class Cluster {
  readonly #seeds: readonly BrokerAddress[];
  #brokers: readonly BrokerAddress[] = [];
  readonly #links = new Map<string, Link>();
  readonly #topics = new Map<string, Known>();
  readonly #coordinators = new Map<string, number>();
  /** When a broker last gave no answer, on the monotonic clock; it is asked last. */
  readonly #silentAt = new Map<number, number>();
  #closed = false;
  /** What the brokers' answers are put into. */
  readonly memory = new FrameMemory();

  /** @param seeds `host:port` of some brokers; the others are learnt from them */
  constructor(
    readonly seeds: readonly string[],
    private readonly options: Omit<ConnectionOptions, 'memory'>,
  ) {
    this.#seeds = seeds.map((seed, i) => {
      const colon = seed.lastIndexOf(':');
      return { node: -1 - i, host: seed.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(seed.slice(colon + 1)) };
    });
  }

  /** Number of brokers, as last heard. */
  get size(): number {
    return this.#brokers.length;
  }

  get name(): string {
    return `Kafka at ${this.seeds.join(',')}`;
  }

  /** Asks one broker. After no answer, what was known of leaders and coordinators is forgotten. */
  async send<T>(node: number, purpose: string, request: Request<T>): Promise<T> {
    if (this.#closed) throw new BusClosedError();
    const address = [...this.#brokers, ...this.#seeds].find((b) => b.node === node);
    if (!address) throw new NoAnswerError(`broker ${node} of ${this.name} is gone`);
    const key = `${address.host}:${address.port}/${purpose}`;
    let link = this.#links.get(key);
    if (!link) {
      link = new Link(address, { ...this.options, memory: this.memory });
      this.#links.set(key, link);
    }
    try {
      const answer = await link.send(request);
      this.#silentAt.delete(node);
      return answer;
    } catch (error) {
      if (error instanceof NoAnswerError) this.#forget(node);
      throw error;
    }
  }

  /** Asks any broker that answers. @throws NoAnswerError when none does */
  async sendToAny<T>(request: Request<T>): Promise<T> {
    let failure: unknown;
    for (const node of this.#candidates()) {
      try {
        return await this.send(node, 'meta', request);
      } catch (error) {
        if (!passes(error)) throw error;
        failure = error;
      }
    }
    throw new NoAnswerError(`no broker of ${this.name} answers: ${describeError(failure)}`, { cause: failure });
  }

  /** Who is there, with the named topics or all. */
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
   * A topic, as known or as asked for now.
   * @throws UnknownTopicError when it is not there, and does not appear within a second
   */
  async topic(
    name: string,
    options: { signal?: AbortSignal | undefined; fresh?: boolean } = {},
  ): Promise<TopicMetadata> {
    const known = this.#topics.get(name);
    if (known && !options.fresh && performance.now() - known.at < METADATA_AGE_MS) return known.topic;
    try {
      return await patiently(
        async () => {
          const { topics } = await this.metadata([name]);
          const [topic] = topics;
          if (!topic) throw new PassingError(`find topic ${name}`, ERROR.unknownTopicOrPartition);
          throwOn(topic.error, `find topic ${name}`);
          return topic;
        },
        { signal: options.signal, forMs: UNKNOWN_TOPIC_PATIENCE_MS },
      );
    } catch (error) {
      if (error instanceof PassingError && error.code === ERROR.unknownTopicOrPartition) {
        throw new UnknownTopicError(name, this.name);
      }
      throw error;
    }
  }

  /** Forgets who leads the partitions of a topic. */
  forgetTopic(name: string): void {
    this.#topics.delete(name);
  }

  /** Asks the leader of a partition; it is looked for again at each try. */
  async sendToLeader<T>(
    topic: string,
    partition: number,
    purpose: string,
    make: (topic: TopicMetadata) => { request: Request<T>; check: (answer: T) => void },
    patience: Patience,
  ): Promise<T> {
    return await patiently(async (attempt) => {
      const found = await this.topic(topic, { signal: patience.signal, fresh: attempt > 0 });
      const { request, check } = make(found);
      const leader = found.leaders[partition];
      if (leader === undefined) throw new UnknownTopicError(`${topic}/${partition}`, this.name);
      if (leader < 0) throw new PassingError(`reach the leader of ${topic}/${partition}`, ERROR.leaderNotAvailable);
      const answer = await this.send(leader, purpose, request);
      check(answer);
      return answer;
    }, patience);
  }

  /** The broker that keeps a group. */
  async coordinator(group: string): Promise<number> {
    const known = this.#coordinators.get(group);
    if (known !== undefined) return known;
    const found = await this.sendToAny(findCoordinatorRequest(group));
    throwOn(found.error, `find who keeps group ${group}`);
    if (!this.#brokers.some((b) => b.node === found.node)) await this.metadata([]);
    this.#coordinators.set(group, found.node);
    return found.node;
  }

  forgetCoordinator(group: string): void {
    this.#coordinators.delete(group);
  }

  /** Closes the connections of the purposes that end so. */
  release(suffix: string): void {
    for (const [key, link] of this.#links) {
      if (!key.endsWith(suffix)) continue;
      link.close();
      this.#links.delete(key);
    }
  }

  close(): void {
    this.#closed = true;
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  /** All brokers and seeds in any order, but those that gave no answer last, the latest at the end. */
  #candidates(): number[] {
    const start = Math.floor(Math.random() * Math.max(1, this.#brokers.length));
    const brokers = [...this.#brokers.slice(start), ...this.#brokers.slice(0, start)];
    const others = this.#seeds.filter((s) => !brokers.some((b) => b.host === s.host && b.port === s.port));
    const failedAt = (node: number) => this.#silentAt.get(node) ?? -Infinity;
    return [...brokers, ...others].map((b) => b.node).sort((a, b) => Math.sign(failedAt(a) - failedAt(b)) || 0);
  }

  #forget(node: number): void {
    this.#silentAt.set(node, performance.now());
    for (const [group, coordinator] of this.#coordinators) if (coordinator === node) this.#coordinators.delete(group);
    for (const [name, { topic }] of this.#topics) if (topic.leaders.includes(node)) this.#topics.delete(name);
  }
}
