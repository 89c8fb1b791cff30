import { describeError, type Logger } from '../../core/index.js';
import type { Appended, BusRecord } from '../bus.js';
import { BusWriteError, UnknownTopicError } from '../errors.js';
import { AppendOperation, MAX_BATCH_BYTES, type OutgoingBatch, type OutgoingPart } from './append-operation.js';
import type { Cluster } from './cluster.js';
import { NoAnswerError, PassingError, patiently, RefusedError, throwOn } from './faults.js';
import { ERROR } from './protocol/error-codes.js';
import type { TopicMetadata } from './protocol/metadata.js';
import { initProducerIdRequest, type ProduceAnswer, produceRequest } from './protocol/produce.js';
import { type BatchEncoder, stampBatch } from './records/encode.js';
import { untilAborted } from './waiting.js';

/** Bytes of batches in one request, at most (but at least one batch). */
const MAX_REQUEST_BYTES = 16 * MAX_BATCH_BYTES;
/** The broker does not know us, or not what we sent last: only a new identity helps. */
const IDENTITY_ERRORS = new Set<number>([
  ERROR.outOfOrderSequence,
  ERROR.duplicateSequence,
  ERROR.invalidProducerEpoch,
  ERROR.unknownProducerId,
]);

interface Waiting {
  readonly records: readonly BusRecord[];
  readonly signal: AbortSignal | undefined;
  resolve(places: Appended[]): void;
  reject(error: unknown): void;
}

/**
 * Appends to one topic: one operation after the other, and within it never more than one batch on its way per
 * partition. A batch is sent again unchanged, under the same producer sequence, until the broker said that it is
 * durable, so that it is there once however often it was sent. What an operation left in doubt is remembered; when the
 * same records come again they are the same batches, and what was already durable is not sent again.
 */
export class TopicProducer {
  readonly #queue: Waiting[] = [];
  #busy = false;
  #running: Promise<void> | undefined;
  /** The last operation, when it failed, and the end of what it had under way. */
  #unsettled: { operation: AppendOperation; ended: Promise<unknown> } | undefined;
  #identity: { id: number; epoch: number } | undefined;
  readonly #sequences = new Map<number, number>();
  #log: string | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly topic: string,
    private readonly encoder: BatchEncoder,
    private readonly options: {
      readonly timeoutMs: number;
      /** How long the broker may wait for its replicas, milliseconds. */
      readonly replicasMs: number;
      /** Aborted when the bus is closed: nothing more is sent. */
      readonly closing: AbortSignal;
      readonly log: Logger | undefined;
    },
  ) {}

  append(records: readonly BusRecord[], signal: AbortSignal | undefined): Promise<Appended[]> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ records, signal, resolve, reject });
      if (!this.#busy) this.#running = this.#run();
    });
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#running;
    await this.#unsettled?.ended;
  }

  async #run(): Promise<void> {
    this.#busy = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      try {
        next.signal?.throwIfAborted();
        this.options.closing.throwIfAborted();
        next.resolve(await this.#append(next));
      } catch (error) {
        next.reject(error);
        // Nothing may overtake what failed: whoever waits behind it has to come again after it.
        for (const behind of this.#queue.splice(0)) {
          behind.reject(
            new BusWriteError(`records for ${this.topic} were not sent: those before them failed`, { cause: error }),
          );
        }
      }
    }
    this.#busy = false;
  }

  async #append({ records, signal }: Waiting): Promise<Appended[]> {
    const places: Appended[] = [];
    let rest = records;
    const before = this.#unsettled;
    if (before) {
      await untilAborted(before.ended, signal, this.options.closing);
      if (before.operation.begins(records)) {
        places.push(...(await this.#perform(before.operation, signal)));
        rest = records.slice(before.operation.records.length);
      } else if (before.operation.inDoubt) this.#renew('records in doubt were given up by the caller');
      this.#unsettled = undefined;
    }
    if (rest.length > 0) places.push(...(await this.#perform(new AppendOperation(rest), signal)));
    return places;
  }

  async #perform(operation: AppendOperation, signal: AbortSignal | undefined): Promise<Appended[]> {
    const sending = this.#send(operation, signal);
    try {
      await untilAborted(sending, signal, this.options.closing);
      return operation.places();
    } catch (error) {
      this.#unsettled = { operation, ended: sending.catch(() => undefined) };
      signal?.throwIfAborted();
      this.options.closing.throwIfAborted();
      if (error instanceof UnknownTopicError || error instanceof RefusedError) throw error;
      throw new BusWriteError(
        `records for ${this.topic} were not acknowledged within ${this.options.timeoutMs} ms, send them again: ${describeError(error)}`,
        { cause: error },
      );
    }
  }

  async #send(operation: AppendOperation, signal: AbortSignal | undefined): Promise<void> {
    await patiently(
      async (attempt) => {
        const topic = await this.cluster.topic(this.topic, { signal, fresh: attempt > 0 });
        this.#follow(topic);
        await operation.prepare({ log: topic.id, partitions: topic.leaders.length }, this.encoder, Date.now());
        for (let parts = operation.pending; parts.length > 0; parts = operation.pending) {
          signal?.throwIfAborted();
          this.options.closing.throwIfAborted();
          await this.#sendNext(parts, topic);
        }
      },
      { signal, forMs: this.options.timeoutMs },
    );
  }

  /** The sequences of a log end with it. */
  #follow(topic: TopicMetadata): void {
    if (this.#log !== undefined && this.#log !== topic.id) this.#renew('the topic was created again');
    this.#log = topic.id;
  }

  /** Sends the next batch of each partition and waits until every leader asked has answered. */
  async #sendNext(parts: readonly OutgoingPart[], topic: TopicMetadata): Promise<void> {
    this.#identity ??= await this.#newIdentity();
    const byLeader = new Map<number, OutgoingPart[]>();
    for (const part of parts) {
      const leader = topic.leaders[part.partition];
      if (leader === undefined) throw new UnknownTopicError(`${this.topic}/${part.partition}`, this.cluster.name);
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), part]);
    }
    const sent = [...byLeader].map(([leader, those]) => this.#sendTo(leader, those));
    const failed = (await Promise.allSettled(sent)).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #sendTo(leader: number, parts: readonly OutgoingPart[]): Promise<void> {
    if (leader < 0) throw new PassingError(`reach the leader of ${this.topic}`, ERROR.leaderNotAvailable);
    const batches: { partition: number; bytes: Buffer }[] = [];
    let bytes = 0;
    for (const part of parts) {
      const batch = part.next;
      if (!batch || (batches.length > 0 && bytes + batch.bytes.length > MAX_REQUEST_BYTES)) continue;
      this.#stamp(part.partition, batch);
      batches.push({ partition: part.partition, bytes: batch.bytes });
      bytes += batch.bytes.length;
    }
    const answers = await this.cluster.send(
      leader,
      `produce ${this.topic}`,
      produceRequest(this.topic, batches, this.options.replicasMs),
    );
    const outcomes = batches.map(({ partition }) => {
      const part = parts.find((p) => p.partition === partition);
      return (
        part &&
        this.#settle(
          part,
          answers.find((a) => a.partition === partition),
        )
      );
    });
    const failure = outcomes.find((outcome) => outcome !== undefined);
    if (failure) throw failure;
  }

  #stamp(partition: number, batch: OutgoingBatch): void {
    if (batch.stamp || !this.#identity) return;
    const sequence = this.#sequences.get(partition) ?? 0;
    batch.stamp = { producerId: this.#identity.id, producerEpoch: this.#identity.epoch, sequence };
    stampBatch(batch.bytes, batch.stamp);
  }

  /** Takes note of a leader's answer for a part's next batch; answers what is wrong with it. */
  #settle(part: OutgoingPart, answer: ProduceAnswer | undefined): Error | undefined {
    const batch = part.next;
    if (!answer || !batch?.stamp) return new NoAnswerError(`no word about ${this.topic}/${part.partition} came back`);
    if (answer.error === ERROR.none) {
      if (batch.stamp.producerId === this.#identity?.id) {
        // Sequences are 31 bits wide and start again from 0.
        this.#sequences.set(part.partition, (batch.stamp.sequence + batch.count) % 2 ** 31);
      }
      part.settle(answer.offset);
      return undefined;
    }
    if (IDENTITY_ERRORS.has(answer.error)) {
      batch.stamp = undefined;
      this.#renew(`the broker does not know what it acknowledged last (${answer.error})`);
      return new PassingError(`take records for ${this.topic}/${part.partition}`, ERROR.notLeader);
    }
    try {
      const large = answer.error === ERROR.messageTooLarge || answer.error === ERROR.recordListTooLarge;
      const hint = large ? `let the topic's max.message.bytes be at least ${MAX_BATCH_BYTES}` : (answer.message ?? '');
      throwOn(answer.error, `take records for ${this.topic}/${part.partition}`, hint);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  #renew(why: string): void {
    if (this.#identity)
      this.options.log?.warn({ topic: this.topic }, `appending under a new producer identity: ${why}`);
    this.#identity = undefined;
    this.#sequences.clear();
  }

  async #newIdentity(): Promise<{ id: number; epoch: number }> {
    const identity = await this.cluster.sendToAny(initProducerIdRequest());
    throwOn(identity.error, 'give a producer identity');
    return identity;
  }
}
