import type { Committed, Partition, RecordBatch } from '../../bus.js';
import { LogReplacedError, PartitionLostError, UnknownTopicError } from '../../errors.js';
import type { Cluster } from '../cluster.js';
import type { GroupMember } from '../group/group-member.js';
import { committedIn, encodeNote, fetchCommitted, offsetAt } from '../offsets.js';
import { offsetCommitRequest } from '../protocol/offsets.js';
import { readRange } from '../range-reader.js';
import { untilAborted } from '../waiting.js';

export interface OwnedPlace {
  readonly topic: string;
  readonly kafkaTopic: string;
  readonly partition: number;
  readonly log: string;
}

export interface OwnedOptions {
  readonly group: string;
  readonly kafkaGroup: string;
  readonly scope: string;
  /** So long after a sign of life the broker gives the partition to another, at the earliest, milliseconds. */
  readonly sessionTimeoutMs: number;
  /** Aborted when the consumer has been told to stop and the time to finish is over. */
  readonly giveUp: AbortSignal;
  /** How long a read is tried, milliseconds. */
  readonly patienceMs: number;
  readonly maxBatchBytes: number;
}

/** A partition while this consumer holds it; every promise about it is made by the broker, not from memory. */
export class OwnedPartition implements Partition {
  readonly topic: string;
  readonly partition: number;
  readonly log: string;
  readonly heldForMs: number;
  #held = true;
  /** The last commit: they go out one after the other, so that none that is tried again overwrites a later one. */
  #committing: Promise<void> = Promise.resolve();

  constructor(
    private readonly cluster: Cluster,
    private readonly member: GroupMember,
    private readonly place: OwnedPlace,
    private readonly options: OwnedOptions,
  ) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.log = place.log;
    this.heldForMs = options.sessionTimeoutMs;
  }

  /** From now on everything that takes ownership is refused. */
  release(): void {
    this.#held = false;
  }

  async committed(): Promise<Committed> {
    const { kafkaGroup, scope, giveUp } = this.options;
    const place = { topic: this.place.kafkaTopic, partition: this.partition };
    const patience = { forMs: Infinity, signal: giveUp };
    const asking = fetchCommitted(this.cluster, kafkaGroup, [place], `offsets${scope}`, patience);
    const [fetched] = await untilAborted(asking, giveUp);
    const committed = committedIn(this.log, fetched);
    if (committed) return committed;
    try {
      return { offset: await untilAborted(offsetAt(this.cluster, place, 'begin', patience), giveUp) };
    } catch (error) {
      if (!(error instanceof UnknownTopicError)) throw error;
      throw new LogReplacedError(this.topic, this.partition, this.log, this.options.group);
    }
  }

  commit(offset: number, intent?: string): Promise<void> {
    const commit = this.#committing.then(() => this.#commit(offset, intent));
    this.#committing = commit.catch(() => undefined);
    return commit;
  }

  async assertOwned(): Promise<void> {
    await this.member.verify({ stillOurs: () => this.#assertHeld(), signal: this.options.giveUp });
  }

  read(start: number, end: number): AsyncIterable<RecordBatch> {
    return readRange(this.cluster, { ...this.place, start, end }, this.options);
  }

  async #commit(offset: number, intent: string | undefined): Promise<void> {
    const { kafkaTopic, partition, log } = this.place;
    const metadata = encodeNote(log, intent);
    await this.member.fenced(
      (ref) => offsetCommitRequest({ ...ref, topic: kafkaTopic, partition, offset, metadata }),
      `commit offset ${offset} of ${kafkaTopic}/${partition}`,
      {
        stillOurs: () => this.#assertHeld(),
        signal: this.options.giveUp,
        hint: `the text committed with it has ${Buffer.byteLength(metadata)} bytes`,
      },
    );
  }

  #assertHeld(): void {
    if (!this.#held) throw new PartitionLostError(this.topic, this.partition, this.options.group);
  }
}
