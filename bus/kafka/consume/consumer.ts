import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describeError, type Logger } from '../../../core/index.js';
import type { ConsumeOptions, ConsumerHandler } from '../../bus.js';
import { UnknownTopicError } from '../../errors.js';
import type { Cluster } from '../cluster.js';
import { NoAnswerError, passes, patiently } from '../faults.js';
import { GroupMember } from '../group/group-member.js';
import type { Assignment } from '../group/subscription.js';
import type { Names } from '../names.js';
import type { Place } from '../offsets.js';
import { Fetcher } from './fetcher.js';
import { Lane } from './lane.js';
import { OwnedPartition } from './owned-partition.js';
import { watchForStall } from './stall-watch.js';

const TOPIC_RETRY_MS = 500;
/** A consumer that stops waits so long for a broker that does not answer. */
const STOP_GRACE_MS = 3_000;
/** Bytes fetched ahead of all handlers together. */
const BUDGET_BYTES = 64 * 2 ** 20;

export interface ConsumerSettings {
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly topicsEveryMs: number;
  readonly stallMs: number;
  readonly patienceMs: number;
  readonly defaultBatchBytes: number;
  readonly log: Logger | undefined;
}

/** A partition from its assignment until it was let go of. */
interface Holding {
  readonly place: Place;
  readonly ending: AbortController;
  lane: Lane | undefined;
  lost: boolean;
}

/** One call of `consume`: a member of the group, and a lane for each partition that it holds. */
export class Consumer {
  readonly #scope = `@${randomUUID()}`;
  readonly #member: GroupMember;
  readonly #fetcher: Fetcher;
  readonly #holdings = new Map<string, Holding>();
  readonly #settling = new Set<Promise<void>>();
  readonly #failed = new AbortController();
  /** What the group's present generation gives us. */
  #given = new Map<string, Place>();
  /** What others wait for until we let go of it. */
  #owed = new Set<string>();
  /** Ends what handlers still ask the broker for a while after the consumer was told to stop. */
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
    const { patienceMs, log } = settings;
    this.#fetcher = new Fetcher(cluster, { scope, maxBatchBytes, budgetBytes: BUDGET_BYTES, patienceMs, log });
  }

  /** Resolves when the signal is aborted; rejects with the first failure. All partitions are let go before either. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = AbortSignal.any([signal, this.#failed.signal]);
    const leaving = new AbortController();
    let membership: Promise<void> | undefined;
    try {
      await this.#assertTopics(signal);
      membership = this.#member.run(leaving.signal).catch((error) => this.#failed.abort(error));
      const lanes = () => [...this.#holdings.values()].flatMap((h) => (h.lane ? [h.lane] : []));
      await watchForStall(this.cluster, lanes, this.settings.stallMs, stop);
    } catch (error) {
      if (!signal.aborted) this.#failed.abort(error);
    } finally {
      this.#stopping = true;
      for (const holding of this.#holdings.values()) end(holding);
      const reason = new NoAnswerError(`${this.cluster.name} did not answer before the consumer stopped`);
      const timer = setTimeout(() => this.#giveUp.abort(reason), STOP_GRACE_MS);
      while (this.#settling.size > 0) await Promise.all(this.#settling);
      clearTimeout(timer);
      this.#fetcher.stop();
      leaving.abort();
      await membership;
      this.cluster.release(this.#scope);
    }
    if (this.#failed.signal.aborted) throw this.#failed.signal.reason;
  }

  async #assertTopics(signal: AbortSignal): Promise<void> {
    const patience = { forMs: this.settings.patienceMs, signal };
    for (const topic of this.options.topics) {
      await patiently(() => this.cluster.topic(this.names.inKafka(topic), { fresh: true, signal }), patience);
    }
  }

  #owned(): Assignment {
    const owned = new Map<string, number[]>();
    for (const { place, lost } of this.#holdings.values()) {
      if (!lost) owned.set(place.topic, [...(owned.get(place.topic) ?? []), place.partition]);
    }
    return owned;
  }

  #assigned(assignment: Assignment, claimed: Assignment): void {
    this.#given = new Map(placesOf(assignment).map((place) => [keyOf(place), place]));
    this.#owed = new Set(
      placesOf(claimed)
        .map(keyOf)
        .filter((key) => !this.#given.has(key)),
    );
    for (const [key, holding] of this.#holdings) if (!this.#given.has(key)) end(holding);
    for (const place of this.#given.values()) this.#take(place);
    this.#payOwed();
  }

  #lost(): void {
    this.#given.clear();
    this.#owed.clear();
    for (const holding of this.#holdings.values()) {
      holding.lost = true;
      holding.ending.abort();
      holding.lane?.lose();
    }
  }

  /** Takes a partition, unless it is held already; one that is being let go of is taken again after that. */
  #take(place: Place): void {
    const key = keyOf(place);
    if (this.#stopping || this.#holdings.has(key)) return;
    const holding: Holding = { place, ending: new AbortController(), lane: undefined, lost: false };
    this.#holdings.set(key, holding);
    const settling = this.#hold(holding)
      .catch((error) => this.#failed.abort(error))
      .then(() => {
        this.#settling.delete(settling);
        this.#holdings.delete(key);
        const again = this.#given.get(key);
        if (again && !this.#failed.signal.aborted) this.#take(again);
        this.#payOwed();
      });
    this.#settling.add(settling);
  }

  /** Once everything that others wait for is let go of, the group divides it anew. */
  #payOwed(): void {
    if (this.#owed.size === 0 || [...this.#owed].some((key) => this.#holdings.has(key))) return;
    this.#owed.clear();
    if (!this.#stopping) this.#member.rejoin();
  }

  async #hold(holding: Holding): Promise<void> {
    const { topic, partition } = holding.place;
    const log = await this.#logOf(holding.place, holding.ending.signal);
    // It may have been taken from us while its log was asked for: then it is another's, and no lane may begin.
    if (log === undefined || holding.ending.signal.aborted) return;
    const { group, maxBatchBytes = this.settings.defaultBatchBytes } = this.options;
    const { patienceMs, sessionTimeoutMs } = this.settings;
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
        patienceMs,
        maxBatchBytes,
      },
    );
    holding.lane = new Lane(owned, topic, this.handler, { maxBatchBytes, memory: this.cluster.memory });
    await holding.lane.run(this.#fetcher);
  }

  /** The partition's present log; waits while there is none. Undefined when the signal is aborted first. */
  async #logOf({ topic, partition }: Place, signal: AbortSignal): Promise<string | undefined> {
    for (let warned = false; !signal.aborted; warned = true) {
      try {
        const { id, leaders } = await this.cluster.topic(topic, { fresh: true, signal });
        if (partition < leaders.length) return id;
        throw new UnknownTopicError(`${topic}/${partition}`, this.cluster.name);
      } catch (error) {
        if (signal.aborted) break;
        if (!passes(error) && !(error instanceof UnknownTopicError)) throw error;
        if (!warned) this.settings.log?.warn({ topic }, `waiting for a topic: ${describeError(error)}`);
        await delay(TOPIC_RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }
}

const keyOf = (place: Place): string => `${place.topic}/${place.partition}`;
const placesOf = (assignment: Assignment): Place[] =>
  [...assignment].flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition })));

function end(holding: Holding): void {
  holding.ending.abort();
  holding.lane?.end();
}
