import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describeError, type Logger } from '../../../core/index.js';
import type { ConsumeOptions, ConsumerHandler } from '../../bus.js';
import { UnknownTopicError } from '../../errors.js';
import type { Cluster } from '../cluster.js';
import { isTransient, NoResponseError, retryWithin } from '../faults.js';
import { GroupMember } from '../group/group-member.js';
import type { Assignment } from '../group/subscription.js';
import type { Names } from '../names.js';
import type { TopicPartition } from '../offsets.js';
import { Fetcher } from './fetcher.js';
import { OwnedPartition } from './owned-partition.js';
import { PartitionConsumer } from './partition-consumer.js';
import { watchForStall } from './stall-watch.js';

const TOPIC_RETRY_MS = 500;
/** How long a consumer that stops waits for a broker that does not respond. */
const STOP_GRACE_MS = 3_000;
/** Upper bound of what is fetched ahead of all handlers together, bytes. */
const BUDGET_BYTES = 64 * 2 ** 20;

interface ConsumerSettings {
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly topicsEveryMs: number;
  readonly stallMs: number;
  readonly apiTimeoutMs: number;
  readonly defaultBatchBytes: number;
  readonly log: Logger | undefined;
}

/** A partition from its assignment until it is released. */
interface HeldPartition {
  readonly at: TopicPartition;
  readonly ending: AbortController;
  consumer: PartitionConsumer | undefined;
  lost: boolean;
}

/** One call of `consume`: a member of the group, and a PartitionConsumer for each partition that it holds. */
export class Consumer {
  readonly #scope = `@${randomUUID()}`;
  readonly #member: GroupMember;
  readonly #fetcher: Fetcher;
  readonly #held = new Map<string, HeldPartition>();
  /** Resolve when a held partition is released. */
  readonly #releases = new Set<Promise<void>>();
  readonly #failed = new AbortController();
  /** The assignment of the group's current generation. */
  #assignment = new Map<string, TopicPartition>();
  /** Revoked partitions that are still held; when all are released, the member rejoins so that others get them. */
  #revoked = new Set<string>();
  /** Aborts handlers' requests when the grace period after a stop is over. */
  readonly #giveUp = new AbortController();
  #stopping = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly names: Names,
    private readonly options: ConsumeOptions,
    private readonly handler: ConsumerHandler,
    private readonly settings: ConsumerSettings,
  ) {
    const scope = this.#scope;
    this.#member = new GroupMember(
      cluster,
      { ...settings, scope, group: names.inKafka(options.group), topics: options.topics.map((t) => names.inKafka(t)) },
      {
        owned: () => this.#owned(),
        assigned: (assignment, claimed) => this.#assigned(assignment, claimed),
        lost: () => this.#lost(),
      },
    );
    const { maxBatchBytes = settings.defaultBatchBytes } = options;
    const { apiTimeoutMs, log } = settings;
    this.#fetcher = new Fetcher(cluster, { scope, maxBatchBytes, budgetBytes: BUDGET_BYTES, apiTimeoutMs, log });
  }

  /** Resolves when the signal is aborted; rejects with the first failure. Releases all partitions before either. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = AbortSignal.any([signal, this.#failed.signal]);
    const leaving = new AbortController();
    let membership: Promise<void> | undefined;
    try {
      await this.#assertTopics(signal);
      membership = this.#member.run(leaving.signal).catch((error) => this.#failed.abort(error));
      const consumers = () => [...this.#held.values()].flatMap((h) => (h.consumer ? [h.consumer] : []));
      await watchForStall(this.cluster, consumers, this.settings.stallMs, stop);
    } catch (error) {
      if (!signal.aborted) this.#failed.abort(error);
    } finally {
      this.#stopping = true;
      for (const held of this.#held.values()) end(held);
      const reason = new NoResponseError(`${this.cluster.name} did not respond before the consumer stopped`);
      const timer = setTimeout(() => this.#giveUp.abort(reason), STOP_GRACE_MS);
      while (this.#releases.size > 0) await Promise.all(this.#releases);
      clearTimeout(timer);
      this.#fetcher.stop();
      leaving.abort();
      await membership;
      this.cluster.closeConnections(this.#scope);
    }
    if (this.#failed.signal.aborted) throw this.#failed.signal.reason;
  }

  async #assertTopics(signal: AbortSignal): Promise<void> {
    const deadline = { withinMs: this.settings.apiTimeoutMs, signal };
    for (const topic of this.options.topics) {
      await retryWithin(() => this.cluster.topic(this.names.inKafka(topic), { fresh: true, signal }), deadline);
    }
  }

  #owned(): Assignment {
    const owned = new Map<string, number[]>();
    for (const { at, lost } of this.#held.values()) {
      if (!lost) owned.set(at.topic, [...(owned.get(at.topic) ?? []), at.partition]);
    }
    return owned;
  }

  #assigned(assignment: Assignment, claimed: Assignment): void {
    this.#assignment = new Map(partitionsOf(assignment).map((at) => [keyOf(at), at]));
    this.#revoked = new Set(
      partitionsOf(claimed)
        .map(keyOf)
        .filter((key) => !this.#assignment.has(key)),
    );
    for (const [key, held] of this.#held) if (!this.#assignment.has(key)) end(held);
    for (const at of this.#assignment.values()) this.#start(at);
    this.#rejoinWhenReleased();
  }

  #lost(): void {
    this.#assignment.clear();
    this.#revoked.clear();
    for (const held of this.#held.values()) {
      held.lost = true;
      held.ending.abort();
      held.consumer?.lose();
    }
  }

  /** Starts consuming a partition unless it is held; one that is being released starts again afterwards. */
  #start(at: TopicPartition): void {
    const key = keyOf(at);
    if (this.#stopping || this.#held.has(key)) return;
    const held: HeldPartition = { at, ending: new AbortController(), consumer: undefined, lost: false };
    this.#held.set(key, held);
    const release = this.#consume(held)
      .catch((error) => this.#failed.abort(error))
      .then(() => {
        this.#releases.delete(release);
        this.#held.delete(key);
        const again = this.#assignment.get(key);
        if (again && !this.#failed.signal.aborted) this.#start(again);
        this.#rejoinWhenReleased();
      });
    this.#releases.add(release);
  }

  /** Rejoins when all revoked partitions are released, so that the leader can assign them to others. */
  #rejoinWhenReleased(): void {
    if (this.#revoked.size === 0 || [...this.#revoked].some((key) => this.#held.has(key))) return;
    this.#revoked.clear();
    if (!this.#stopping) this.#member.rejoin();
  }

  async #consume(held: HeldPartition): Promise<void> {
    const { topic, partition } = held.at;
    const log = await this.#logOf(held.at, held.ending.signal);
    // The partition may have been revoked or lost while its log was requested: it must not be consumed then.
    if (log === undefined || held.ending.signal.aborted) return;
    const { group, maxBatchBytes = this.settings.defaultBatchBytes } = this.options;
    const { apiTimeoutMs, sessionTimeoutMs } = this.settings;
    const owned = new OwnedPartition(
      this.cluster,
      this.#member,
      { topic: this.names.onBus(topic), kafkaTopic: topic, partition, log },
      {
        group,
        kafkaGroup: this.names.inKafka(group),
        scope: this.#scope,
        sessionTimeoutMs,
        giveUp: this.#giveUp.signal,
        apiTimeoutMs,
        maxBatchBytes,
      },
    );
    held.consumer = new PartitionConsumer(owned, topic, this.handler, {
      maxBatchBytes,
      bufferPool: this.cluster.bufferPool,
    });
    await held.consumer.run(this.#fetcher);
  }

  /** Identity of the partition's current log; waits while there is none. Undefined when the signal is aborted first. */
  async #logOf({ topic, partition }: TopicPartition, signal: AbortSignal): Promise<string | undefined> {
    for (let warned = false; !signal.aborted; warned = true) {
      try {
        const { id, leaders } = await this.cluster.topic(topic, { fresh: true, signal });
        if (partition < leaders.length) return id;
        throw new UnknownTopicError(`${topic}/${partition}`, this.cluster.name);
      } catch (error) {
        if (signal.aborted) break;
        if (!isTransient(error) && !(error instanceof UnknownTopicError)) throw error;
        if (!warned) this.settings.log?.warn({ topic }, `waiting for a topic: ${describeError(error)}`);
        await delay(TOPIC_RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }
}

const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;
const partitionsOf = (assignment: Assignment): TopicPartition[] =>
  [...assignment].flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition })));

function end(held: HeldPartition): void {
  held.ending.abort();
  held.consumer?.end();
}
