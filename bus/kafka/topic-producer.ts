import { describeError, type Logger, untilAborted } from '../../core/index.js';
import type { BusRecord, RecordPosition } from '../bus.js';
import { BusWriteError, UnknownTopicError } from '../errors.js';
import { AppendOperation, MAX_BATCH_BYTES, type OutgoingBatch, type OutgoingPart } from './append-operation.js';
import type { Cluster } from './cluster.js';
import { NoResponseError, RefusedError, retryWithin, TransientError, throwOn } from './faults.js';
import { ERROR } from './protocol/error-codes.js';
import type { TopicMetadata } from './protocol/metadata.js';
import { initProducerIdRequest, type ProduceResponse, produceRequest } from './protocol/produce.js';
import { type BatchEncoder, stampBatch } from './records/encode.js';

/** Upper bound of the batches in one request, bytes; a single larger batch is sent alone. */
const MAX_REQUEST_BYTES = 16 * MAX_BATCH_BYTES;
/** The broker does not know the producer ID, or not its last sequence: a new producer ID is needed. */
const PRODUCER_ID_ERRORS = new Set<number>([
  ERROR.outOfOrderSequence,
  ERROR.duplicateSequence,
  ERROR.invalidProducerEpoch,
  ERROR.unknownProducerId,
]);

interface Waiting {
  readonly records: readonly BusRecord[];
  readonly signal: AbortSignal | undefined;
  resolve(positions: RecordPosition[]): void;
  reject(error: unknown): void;
}

/**
 * Appends to one topic: one operation at a time, with at most one batch in flight per partition. A batch is retried
 * unchanged, with the same producer ID and sequence, until the broker acknowledges it, so the broker stores it once.
 * A failed operation is stored: when the caller appends the same records again, the same batches are sent, except those
 * that were acknowledged.
 */
export class TopicProducer {
  readonly #queue: Waiting[] = [];
  #busy = false;
  #running: Promise<void> | undefined;
  /** The last operation, if it failed, and a promise that resolves when its requests have ended. */
  #unacknowledged: { operation: AppendOperation; ended: Promise<unknown> } | undefined;
  #producerId: { id: number; epoch: number } | undefined;
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

  append(records: readonly BusRecord[], signal: AbortSignal | undefined): Promise<RecordPosition[]> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ records, signal, resolve, reject });
      if (!this.#busy) this.#running = this.#run();
    });
  }

  /** Resolves when no request is in flight. */
  async idle(): Promise<void> {
    await this.#running;
    await this.#unacknowledged?.ended;
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
        // To preserve the order, callers that are queued behind a failed append must append again after it.
        for (const behind of this.#queue.splice(0)) {
          behind.reject(
            new BusWriteError(`records for ${this.topic} were not sent: an append before them failed`, {
              cause: error,
            }),
          );
        }
      }
    }
    this.#busy = false;
  }

  async #append({ records, signal }: Waiting): Promise<RecordPosition[]> {
    const positions: RecordPosition[] = [];
    let rest = records;
    const before = this.#unacknowledged;
    if (before) {
      await untilAborted(before.ended, signal, this.options.closing);
      if (before.operation.isPrefixOf(records)) {
        positions.push(...(await this.#perform(before.operation, signal)));
        rest = records.slice(before.operation.records.length);
      } else if (before.operation.inDoubt) this.#resetProducerId('the caller dropped records that may be stored');
      this.#unacknowledged = undefined;
    }
    if (rest.length > 0) positions.push(...(await this.#perform(new AppendOperation(rest), signal)));
    return positions;
  }

  async #perform(operation: AppendOperation, signal: AbortSignal | undefined): Promise<RecordPosition[]> {
    const sending = this.#send(operation, signal);
    try {
      await untilAborted(sending, signal, this.options.closing);
      return operation.positions();
    } catch (error) {
      this.#unacknowledged = { operation, ended: sending.catch(() => undefined) };
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
    await retryWithin(
      async (attempt) => {
        const topic = await this.cluster.topic(this.topic, { signal, fresh: attempt > 0 });
        this.#checkLog(topic);
        await operation.prepare({ log: topic.id, partitions: topic.leaders.length }, this.encoder, Date.now());
        for (let parts = operation.pending; parts.length > 0; parts = operation.pending) {
          signal?.throwIfAborted();
          this.options.closing.throwIfAborted();
          await this.#sendNext(parts, topic);
        }
      },
      { signal, withinMs: this.options.timeoutMs },
    );
  }

  /** Sequences are valid for one log only. */
  #checkLog(topic: TopicMetadata): void {
    if (this.#log !== undefined && this.#log !== topic.id) this.#resetProducerId('the topic was created again');
    this.#log = topic.id;
  }

  /** Sends the next batch of each partition and waits for the responses of all leaders. */
  async #sendNext(parts: readonly OutgoingPart[], topic: TopicMetadata): Promise<void> {
    this.#producerId ??= await this.#initProducerId();
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
    if (leader < 0) throw new TransientError(`find the leader of ${this.topic}`, ERROR.leaderNotAvailable);
    const batches: { partition: number; bytes: Buffer }[] = [];
    let bytes = 0;
    for (const part of parts) {
      const batch = part.next;
      if (!batch || (batches.length > 0 && bytes + batch.bytes.length > MAX_REQUEST_BYTES)) continue;
      this.#stamp(part.partition, batch);
      batches.push({ partition: part.partition, bytes: batch.bytes });
      bytes += batch.bytes.length;
    }
    const responses = await this.cluster.send(
      leader,
      `produce ${this.topic}`,
      produceRequest(this.topic, batches, this.options.replicasMs),
    );
    const outcomes = batches.map(({ partition }) => {
      const part = parts.find((p) => p.partition === partition);
      return (
        part &&
        this.#handleResponse(
          part,
          responses.find((r) => r.partition === partition),
        )
      );
    });
    const failure = outcomes.find((outcome) => outcome !== undefined);
    if (failure) throw failure;
  }

  #stamp(partition: number, batch: OutgoingBatch): void {
    if (batch.stamp || !this.#producerId) return;
    const sequence = this.#sequences.get(partition) ?? 0;
    batch.stamp = { producerId: this.#producerId.id, producerEpoch: this.#producerId.epoch, sequence };
    stampBatch(batch.bytes, batch.stamp);
  }

  /** Applies a leader's response to a part's next batch; returns the error, if any. */
  #handleResponse(part: OutgoingPart, response: ProduceResponse | undefined): Error | undefined {
    const batch = part.next;
    if (!response || !batch?.stamp) {
      return new NoResponseError(`the response does not mention ${this.topic}/${part.partition}`);
    }
    if (response.error === ERROR.none) {
      if (batch.stamp.producerId === this.#producerId?.id) {
        // Sequences have 31 bits and wrap to 0.
        this.#sequences.set(part.partition, (batch.stamp.sequence + batch.count) % 2 ** 31);
      }
      part.acknowledge(response.offset);
      return undefined;
    }
    if (PRODUCER_ID_ERRORS.has(response.error)) {
      batch.stamp = undefined;
      this.#resetProducerId(`the broker does not know the last sequence (${response.error})`);
      return new TransientError(`store records for ${this.topic}/${part.partition}`, ERROR.notLeader);
    }
    try {
      const large = response.error === ERROR.messageTooLarge || response.error === ERROR.recordListTooLarge;
      const hint = large
        ? `set the topic's max.message.bytes to at least ${MAX_BATCH_BYTES}`
        : (response.message ?? '');
      throwOn(response.error, `store records for ${this.topic}/${part.partition}`, hint);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  #resetProducerId(why: string): void {
    if (this.#producerId) this.options.log?.warn({ topic: this.topic }, `requesting a new producer ID: ${why}`);
    this.#producerId = undefined;
    this.#sequences.clear();
  }

  async #initProducerId(): Promise<{ id: number; epoch: number }> {
    const response = await this.cluster.sendToAny(initProducerIdRequest());
    throwOn(response.error, 'assign a producer ID');
    return response;
  }
}
