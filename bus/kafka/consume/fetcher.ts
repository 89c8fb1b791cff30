import { setTimeout as delay } from 'node:timers/promises';
import { describeError, type Logger } from '../../../core/index.js';
import { LogReplacedError, OffsetBeyondEndError, OffsetGoneError, UnknownTopicError } from '../../errors.js';
import { AutoResetEvent } from '../auto-reset-event.js';
import type { Cluster } from '../cluster.js';
import { isTransient, throwOn } from '../faults.js';
import { extentOf } from '../offsets.js';
import { ERROR, isTransientCode } from '../protocol/error-codes.js';
import { type FetchedPartition, fetchRequest } from '../protocol/fetch.js';
import type { PartitionConsumer, PartitionFetcher } from './partition-consumer.js';

/** How long a broker may wait for a first record, milliseconds; shorter while a full buffer leaves partitions out. */
const WAIT_MS = 500;
const WAIT_INCOMPLETE_MS = 20;
/** After a fetch of fewer bytes than this the next one is delayed, so that records accumulate. */
const SMALL_FETCH_BYTES = 16 * 1024;
const SMALL_FETCH_DELAY_MS = 4;
const MAX_FETCH_BYTES = 16 * 2 ** 20;
/** Lower bound of a partition's limit in a request; the broker sends a larger first batch in full anyway. */
const MIN_FETCH_BYTES = 256 * 1024;
const RETRY_MS = 200;
/** Batches fetched ahead of a handler, so that fetching and handling overlap. */
const BATCHES_AHEAD = 4;

interface FetcherOptions {
  readonly scope: string;
  /** Upper bound of one batch handed to a handler, bytes. */
  readonly maxBatchBytes: number;
  /** Approximate upper bound of what is fetched ahead of all handlers together, bytes. */
  readonly budgetBytes: number;
  readonly apiTimeoutMs: number;
  readonly log: Logger | undefined;
}

/** Fetches for all partitions of a consumer: one request at a time to each broker, for the buffers with capacity. */
export class Fetcher implements PartitionFetcher {
  readonly #consumers = new Set<PartitionConsumer>();
  /** Partitions with a fetch error whose cause is being determined; they are not fetched meanwhile. */
  readonly #diagnosing = new Set<PartitionConsumer>();
  /** Per broker: set when there may be something to fetch. */
  readonly #fetchLoops = new Map<number, AutoResetEvent>();
  /** Set when a partition has no known leader. */
  readonly #leaderUnknown = new AutoResetEvent();
  readonly #stop = new AbortController();

  constructor(
    private readonly cluster: Cluster,
    private readonly options: FetcherOptions,
  ) {
    void this.#findLeaders();
  }

  add(consumer: PartitionConsumer): void {
    this.#consumers.add(consumer);
    this.#leaderUnknown.set();
  }

  remove(consumer: PartitionConsumer): void {
    this.#consumers.delete(consumer);
  }

  wake(): void {
    for (const event of this.#fetchLoops.values()) event.set();
  }

  stop(): void {
    this.#stop.abort();
    this.#leaderUnknown.set();
    this.wake();
  }

  /** Finds the leaders of partitions without a known one; retries while a partition has none. */
  async #findLeaders(): Promise<void> {
    for (;;) {
      await this.#leaderUnknown.wait();
      for (let first = true; ; first = false) {
        if (this.#stop.signal.aborted) return;
        const consumers = [...this.#consumers].filter((consumer) => consumer.leader === undefined);
        if (consumers.length === 0) break;
        if (!first) await delay(RETRY_MS);
        await this.#findLeadersOf(consumers);
      }
    }
  }

  async #findLeadersOf(consumers: readonly PartitionConsumer[]): Promise<void> {
    for (const topic of new Set(consumers.map((consumer) => consumer.kafkaTopic))) {
      const ofTopic = consumers.filter((consumer) => consumer.kafkaTopic === topic);
      try {
        const { id, leaders } = await this.cluster.topic(topic, { fresh: true, signal: this.#stop.signal });
        for (const consumer of ofTopic) {
          const leader = leaders[consumer.partition.partition] ?? -1;
          if (id !== consumer.partition.log)
            consumer.buffer.fail(
              new LogReplacedError(consumer.partition.topic, consumer.partition.partition, consumer.partition.log),
            );
          else if (leader < 0) continue;
          consumer.leader = leader;
          this.#loopOf(leader).set();
        }
      } catch (error) {
        // A deleted topic may be created again; its log is then another one.
        if (this.#stop.signal.aborted || isTransient(error) || error instanceof UnknownTopicError) continue;
        for (const consumer of ofTopic) consumer.buffer.fail(error);
        for (const consumer of ofTopic) this.remove(consumer);
      }
    }
  }

  #loopOf(node: number): AutoResetEvent {
    let event = this.#fetchLoops.get(node);
    if (!event) {
      event = new AutoResetEvent();
      this.#fetchLoops.set(node, event);
      void this.#loop(node, event);
    }
    return event;
  }

  async #loop(node: number, event: AutoResetEvent): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const all = [...this.#consumers].filter((consumer) => consumer.leader === node);
      const consumers = all.filter((consumer) => this.#freeCapacityOf(consumer) > 0);
      if (consumers.length === 0) {
        await event.wait();
        continue;
      }
      try {
        const bytes = await this.#fetch(
          node,
          consumers,
          consumers.length === all.length ? WAIT_MS : WAIT_INCOMPLETE_MS,
        );
        if (bytes < SMALL_FETCH_BYTES) await delay(SMALL_FETCH_DELAY_MS);
      } catch (error) {
        this.#fetchFailed(consumers, error);
      }
    }
  }

  /** How much more of a partition may be fetched, bytes. */
  #freeCapacityOf(consumer: PartitionConsumer): number {
    if (this.#diagnosing.has(consumer)) return 0;
    const { maxBatchBytes, budgetBytes } = this.options;
    let sharing = consumer.buffer.bytes > 0 ? 0 : 1;
    for (const { buffer } of this.#consumers) if (buffer.bytes > 0) sharing += 1;
    // The budget is shared evenly among partitions with buffered records; idle partitions take no share.
    return Math.min(BATCHES_AHEAD * maxBatchBytes, budgetBytes / sharing) - consumer.buffer.bytes;
  }

  async #fetch(node: number, consumers: readonly PartitionConsumer[], waitMs: number): Promise<number> {
    // The order is rotated: only the first partition of a request is sure to get a batch larger than its limit.
    const start = Math.floor(Math.random() * consumers.length);
    const wanted = [...consumers.slice(start), ...consumers.slice(0, start)].map((consumer) => ({
      consumer,
      log: consumer.partition.log,
      partition: consumer.partition.partition,
      offset: consumer.buffer.fetchOffset,
      maxBytes: Math.max(
        MIN_FETCH_BYTES,
        Math.min(this.options.maxBatchBytes, Math.floor(this.#freeCapacityOf(consumer))),
      ),
    }));
    const request = fetchRequest(wanted, { waitMs, maxBytes: MAX_FETCH_BYTES });
    const response = await this.cluster.send(node, `fetch${this.options.scope}`, request);
    throwOn(response.error, 'serve a fetch');
    let bytes = 0;
    for (const fetched of response.partitions) {
      const requested = wanted.find((w) => w.partition === fetched.partition && w.log === fetched.log);
      if (!requested || !this.#consumers.has(requested.consumer)) continue;
      if (fetched.error === ERROR.none) bytes += requested.consumer.buffer.accept(fetched.records, fetched.end);
      else void this.#diagnose(requested.consumer, fetched);
    }
    this.cluster.bufferPool.release(response.bytes);
    return bytes;
  }

  /** Determines the cause of a fetch error, while the other partitions are fetched. Never rejects. */
  async #diagnose(consumer: PartitionConsumer, { error }: FetchedPartition): Promise<void> {
    const { topic, partition } = consumer.partition;
    if (isTransientCode(error)) return this.#forgetLeader(consumer);
    this.#diagnosing.add(consumer);
    try {
      if (error !== ERROR.offsetOutOfRange) throwOn(error, `read ${consumer.kafkaTopic}/${partition}`);
      const at = { topic: consumer.kafkaTopic, partition };
      const { begin, end } = await extentOf(this.cluster, at, { withinMs: this.options.apiTimeoutMs });
      const wanted = consumer.buffer.fetchOffset;
      if (wanted < begin) throw new OffsetGoneError(topic, partition, wanted, begin);
      if (wanted > end) throw new OffsetBeyondEndError(topic, partition, wanted, end);
      this.#forgetLeader(consumer);
    } catch (failure) {
      this.remove(consumer);
      consumer.buffer.fail(failure);
    } finally {
      this.#diagnosing.delete(consumer);
    }
  }

  #fetchFailed(consumers: readonly PartitionConsumer[], error: unknown): void {
    if (this.#stop.signal.aborted) return;
    if (!isTransient(error)) {
      for (const consumer of consumers) consumer.buffer.fail(error);
      for (const consumer of consumers) this.remove(consumer);
      return;
    }
    this.options.log?.debug(`a fetch failed; retrying: ${describeError(error)}`);
    for (const consumer of consumers) this.#forgetLeader(consumer);
  }

  #forgetLeader(consumer: PartitionConsumer): void {
    this.cluster.forgetTopic(consumer.kafkaTopic);
    consumer.leader = undefined;
    this.#leaderUnknown.set();
  }
}
