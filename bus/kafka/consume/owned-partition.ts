import { untilAborted } from '../../../core/index.js';
import type { Committed, Partition, RecordBatch } from '../../bus.js';
import { LogReplacedError, PartitionLostError, UnknownTopicError } from '../../errors.js';
import type { Cluster } from '../cluster.js';
import type { GroupMember } from '../group/group-member.js';
import { committedIn, encodeOffsetMetadata, fetchCommitted, offsetAt } from '../offsets.js';
import { offsetCommitRequest } from '../protocol/offsets.js';
import { readRange } from '../range-reader.js';

interface PartitionRef {
  readonly topic: string;
  readonly kafkaTopic: string;
  readonly partition: number;
  readonly log: string;
}

interface OwnedOptions {
  readonly group: string;
  readonly kafkaGroup: string;
  readonly scope: string;
  /** The broker assigns the partition to another member at the earliest this long after a heartbeat, milliseconds. */
  readonly sessionTimeoutMs: number;
  /** Aborted when the consumer was stopped and its grace period is over. */
  readonly giveUp: AbortSignal;
  /** How long a read is retried, milliseconds. */
  readonly apiTimeoutMs: number;
  readonly maxBatchBytes: number;
}

/** A partition that is assigned to this consumer. The broker confirms ownership and offsets; nothing is cached. */
export class OwnedPartition implements Partition {
  readonly topic: string;
  readonly partition: number;
  readonly log: string;
  readonly heldForMs: number;
  #held = true;
  /** The last commit: commits are sent one at a time, so that a retried commit cannot overwrite a later one. */
  #committing: Promise<void> = Promise.resolve();

  constructor(
    private readonly cluster: Cluster,
    private readonly member: GroupMember,
    private readonly ref: PartitionRef,
    private readonly options: OwnedOptions,
  ) {
    this.topic = ref.topic;
    this.partition = ref.partition;
    this.log = ref.log;
    this.heldForMs = options.sessionTimeoutMs;
  }

  /** Makes `commit` and `assertOwned` throw PartitionLostError. */
  release(): void {
    this.#held = false;
  }

  async committed(): Promise<Committed> {
    const { kafkaGroup, scope, giveUp } = this.options;
    const at = { topic: this.ref.kafkaTopic, partition: this.partition };
    const deadline = { withinMs: Infinity, signal: giveUp };
    const fetching = fetchCommitted(this.cluster, kafkaGroup, [at], `offsets${scope}`, deadline);
    const [fetched] = await untilAborted(fetching, giveUp);
    const committed = committedIn(this.log, fetched);
    if (committed) return committed;
    try {
      return { offset: await untilAborted(offsetAt(this.cluster, at, 'begin', deadline), giveUp) };
    } catch (error) {
      if (!(error instanceof UnknownTopicError)) throw error;
      throw new LogReplacedError(this.topic, this.partition, this.log, this.options.group);
    }
  }

  commit(offset: number, intent?: string, checkpoint?: string): Promise<void> {
    const commit = this.#committing.then(() => this.#commit(offset, intent, checkpoint));
    this.#committing = commit.catch(() => undefined);
    return commit;
  }

  async assertOwned(): Promise<void> {
    await this.member.verify({ assertHeld: () => this.#assertHeld(), signal: this.options.giveUp });
  }

  read(start: number, end: number): AsyncIterable<RecordBatch> {
    return readRange(this.cluster, { ...this.ref, start, end }, this.options);
  }

  async #commit(offset: number, intent: string | undefined, checkpoint: string | undefined): Promise<void> {
    const { kafkaTopic, partition, log } = this.ref;
    const metadata = encodeOffsetMetadata(log, intent, checkpoint);
    await this.member.fenced(
      (member) => offsetCommitRequest({ ...member, topic: kafkaTopic, partition, offset, metadata }),
      `commit offset ${offset} of ${kafkaTopic}/${partition}`,
      {
        assertHeld: () => this.#assertHeld(),
        signal: this.options.giveUp,
        hint: `its metadata has ${Buffer.byteLength(metadata)} bytes`,
      },
    );
  }

  #assertHeld(): void {
    if (!this.#held) throw new PartitionLostError(this.topic, this.partition, this.options.group);
  }
}
