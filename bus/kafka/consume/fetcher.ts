import { setTimeout as delay } from 'node:timers/promises';
import { describeError, type Logger } from '../../../core/index.js';
import { LogReplacedError, OffsetBeyondEndError, OffsetGoneError, UnknownTopicError } from '../../errors.js';
import type { Cluster } from '../cluster.js';
import { passes, throwOn } from '../faults.js';
import { Notice } from '../notice.js';
import { extentOf } from '../offsets.js';
import { ERROR, isPassing } from '../protocol/error-codes.js';
import { type FetchedPartition, fetchRequest } from '../protocol/fetch.js';
import type { Lane, LaneFetcher } from './lane.js';

/** How long a broker may wait for a first record, milliseconds; shorter while some partition is left out. */
const WAIT_MS = 500;
const WAIT_INCOMPLETE_MS = 20;
/** After a fetch that brought less than this, records may gather for a moment. */
const SMALL_FETCH_BYTES = 16 * 1024;
const GATHER_MS = 4;
const MAX_FETCH_BYTES = 16 * 2 ** 20;
/** What is asked of a partition at least: a batch of records that is larger comes whole all the same. */
const LEAST_FETCH_BYTES = 256 * 1024;
const RETRY_MS = 200;
/** So many batches are fetched ahead of a handler: while it makes rows of one, the broker has others to send. */
const BATCHES_AHEAD = 4;

export interface FetcherOptions {
  readonly scope: string;
  /** What a partition's handler takes at a time, bytes. */
  readonly maxBatchBytes: number;
  /** What may be fetched ahead of all handlers together, bytes, about. */
  readonly budgetBytes: number;
  readonly patienceMs: number;
  readonly log: Logger | undefined;
}

/** Fetches for all partitions of a consumer: one request at a time from each broker, for what has room. */
export class Fetcher implements LaneFetcher {
  readonly #lanes = new Set<Lane>();
  /** Those of which it is being found out why they were refused. */
  readonly #refused = new Set<Lane>();
  readonly #loops = new Map<number, Notice>();
  readonly #lost = new Notice();
  readonly #stop = new AbortController();

  constructor(
    private readonly cluster: Cluster,
    private readonly options: FetcherOptions,
  ) {
    void this.#findLeaders();
  }

  add(lane: Lane): void {
    this.#lanes.add(lane);
    this.#lost.give();
  }

  remove(lane: Lane): void {
    this.#lanes.delete(lane);
  }

  wake(): void {
    for (const notice of this.#loops.values()) notice.give();
  }

  stop(): void {
    this.#stop.abort();
    this.#lost.give();
    this.wake();
  }

  /** Finds a leader for each lane that has none, again and again while there is none. */
  async #findLeaders(): Promise<void> {
    for (;;) {
      await this.#lost.taken();
      for (let first = true; ; first = false) {
        if (this.#stop.signal.aborted) return;
        const lanes = [...this.#lanes].filter((lane) => lane.leader === undefined);
        if (lanes.length === 0) break;
        if (!first) await delay(RETRY_MS);
        await this.#findLeadersOf(lanes);
      }
    }
  }

  async #findLeadersOf(lanes: readonly Lane[]): Promise<void> {
    for (const topic of new Set(lanes.map((lane) => lane.kafkaTopic))) {
      const those = lanes.filter((lane) => lane.kafkaTopic === topic);
      try {
        const { id, leaders } = await this.cluster.topic(topic, { fresh: true, signal: this.#stop.signal });
        for (const lane of those) {
          const leader = leaders[lane.partition.partition] ?? -1;
          if (id !== lane.partition.log)
            lane.buffer.fail(new LogReplacedError(lane.partition.topic, lane.partition.partition, lane.partition.log));
          else if (leader < 0) continue;
          lane.leader = leader;
          this.#loopOf(leader).give();
        }
      } catch (error) {
        // A topic that is gone may come back, and then it is another one.
        if (this.#stop.signal.aborted || passes(error) || error instanceof UnknownTopicError) continue;
        for (const lane of those) lane.buffer.fail(error);
        for (const lane of those) this.remove(lane);
      }
    }
  }

  #loopOf(node: number): Notice {
    let notice = this.#loops.get(node);
    if (!notice) {
      notice = new Notice();
      this.#loops.set(node, notice);
      void this.#loop(node, notice);
    }
    return notice;
  }

  async #loop(node: number, notice: Notice): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const all = [...this.#lanes].filter((lane) => lane.leader === node);
      const lanes = all.filter((lane) => this.#roomOf(lane) > 0);
      if (lanes.length === 0) {
        await notice.taken();
        continue;
      }
      try {
        const bytes = await this.#fetch(node, lanes, lanes.length === all.length ? WAIT_MS : WAIT_INCOMPLETE_MS);
        if (bytes < SMALL_FETCH_BYTES) await delay(GATHER_MS);
      } catch (error) {
        this.#failed(lanes, error);
      }
    }
  }

  /** How much more may be fetched of a partition, bytes. */
  #roomOf(lane: Lane): number {
    if (this.#refused.has(lane)) return 0;
    const { maxBatchBytes, budgetBytes } = this.options;
    let sharing = lane.buffer.bytes > 0 ? 0 : 1;
    for (const { buffer } of this.#lanes) if (buffer.bytes > 0) sharing += 1;
    // Shared evenly: partitions that stand still leave the others room.
    return Math.min(BATCHES_AHEAD * maxBatchBytes, budgetBytes / sharing) - lane.buffer.bytes;
  }

  async #fetch(node: number, lanes: readonly Lane[], waitMs: number): Promise<number> {
    // Which comes first changes from fetch to fetch: only the first is sure to get a batch that is larger than asked for.
    const start = Math.floor(Math.random() * lanes.length);
    const wanted = [...lanes.slice(start), ...lanes.slice(0, start)].map((lane) => ({
      lane,
      log: lane.partition.log,
      partition: lane.partition.partition,
      offset: lane.buffer.fetchOffset,
      maxBytes: Math.max(LEAST_FETCH_BYTES, Math.min(this.options.maxBatchBytes, Math.floor(this.#roomOf(lane)))),
    }));
    const request = fetchRequest(wanted, { waitMs, maxBytes: MAX_FETCH_BYTES });
    const answer = await this.cluster.send(node, `fetch${this.options.scope}`, request);
    throwOn(answer.error, 'answer a fetch');
    let bytes = 0;
    for (const fetched of answer.partitions) {
      const place = wanted.find((w) => w.partition === fetched.partition && w.log === fetched.log);
      if (!place || !this.#lanes.has(place.lane)) continue;
      if (fetched.error === ERROR.none) bytes += place.lane.buffer.accept(fetched.records, fetched.end);
      else void this.#findOutWhy(place.lane, fetched);
    }
    this.cluster.memory.letGo(answer.bytes);
    return bytes;
  }

  /** Apart from fetching: others need not wait for it. Never rejects. */
  async #findOutWhy(lane: Lane, { error }: FetchedPartition): Promise<void> {
    const { topic, partition } = lane.partition;
    if (isPassing(error)) return this.#lookAgain(lane);
    this.#refused.add(lane);
    try {
      if (error !== ERROR.offsetOutOfRange) throwOn(error, `let us read ${lane.kafkaTopic}/${partition}`);
      const place = { topic: lane.kafkaTopic, partition };
      const { begin, end } = await extentOf(this.cluster, place, { forMs: this.options.patienceMs });
      const wanted = lane.buffer.fetchOffset;
      if (wanted < begin) throw new OffsetGoneError(topic, partition, wanted, begin);
      if (wanted > end) throw new OffsetBeyondEndError(topic, partition, wanted, end);
      this.#lookAgain(lane);
    } catch (failure) {
      this.remove(lane);
      lane.buffer.fail(failure);
    } finally {
      this.#refused.delete(lane);
    }
  }

  #failed(lanes: readonly Lane[], error: unknown): void {
    if (this.#stop.signal.aborted) return;
    if (!passes(error)) {
      for (const lane of lanes) lane.buffer.fail(error);
      for (const lane of lanes) this.remove(lane);
      return;
    }
    this.options.log?.debug(`cannot fetch for now: ${describeError(error)}`);
    for (const lane of lanes) this.#lookAgain(lane);
  }

  #lookAgain(lane: Lane): void {
    this.cluster.forgetTopic(lane.kafkaTopic);
    lane.leader = undefined;
    this.#lost.give();
  }
}
