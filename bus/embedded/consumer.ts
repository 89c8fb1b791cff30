import type { Committed, ConsumeOptions, ConsumerHandler, Partition, RecordBatch } from '../bus.js';
import { PartitionLostError } from '../errors.js';
import { type Claim, Membership } from './membership.js';
import type { Reader } from './reader.js';
import type { ChangeSignal } from './signal.js';
import type { Store } from './store.js';
import { beginOf, endOf, refKey, type TopicCatalogue } from './topics.js';

/** Interval at which a consumer checks for members that joined or ended, milliseconds. */
const BALANCE_MS = 250;
export const DEFAULT_BATCH_BYTES = 4 * 1024 * 1024;

interface ConsumerParts {
  readonly store: Store;
  readonly topics: TopicCatalogue;
  readonly reader: Reader;
  readonly changed: ChangeSignal;
}

/** One call of `consume`: its membership and a task for each partition that it owns. */
export class Consumer {
  readonly #membership: Membership;
  readonly #tasks = new Map<Claim, PartitionTask>();
  /** Resolve when an owned partition is released. */
  readonly #releases = new Set<Promise<void>>();
  readonly #failed = new AbortController();

  constructor(
    private readonly parts: ConsumerParts,
    private readonly options: ConsumeOptions,
    private readonly handler: ConsumerHandler,
  ) {
    const topics = options.topics.map((name) => parts.topics.get(name));
    this.#membership = new Membership(parts.store, parts.changed, options.group, topics);
  }

  /** Resolves when the signal is aborted; rejects with the first failure. Releases all partitions before either. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = AbortSignal.any([signal, this.#failed.signal]);
    await this.#membership.join();
    try {
      for (let last = 0; !stop.aborted; await this.parts.changed.wait(stop)) {
        if (performance.now() - last < BALANCE_MS && last !== 0) continue;
        last = performance.now();
        await this.#balance();
      }
    } catch (error) {
      this.#failed.abort(error);
    } finally {
      for (const task of this.#tasks.values()) task.end();
      await Promise.all(this.#releases);
      await this.#membership.leave().catch((error) => this.#failed.abort(error));
    }
    if (this.#failed.signal.aborted) throw this.#failed.signal.reason;
  }

  async #balance(): Promise<void> {
    const { gained, surplus } = await this.#membership.balance();
    for (const claim of surplus) this.#tasks.get(claim)?.end();
    for (const claim of gained) {
      const partition = new OwnedPartition(this.parts, this.options, claim, this.#membership);
      const task = new PartitionTask(this.parts, partition, this.handler, this.options.maxBatchBytes);
      this.#tasks.set(claim, task);
      const release = this.#releaseAfter(claim, task);
      this.#releases.add(release);
      void release.finally(() => this.#releases.delete(release));
    }
  }

  /** Waits for the task's end and releases its partition; a failure of either stops the consumer. Never rejects. */
  async #releaseAfter(claim: Claim, task: PartitionTask): Promise<void> {
    await task.done.catch((error) => this.#failed.abort(error));
    this.#tasks.delete(claim);
    await this.#membership.release(claim).catch((error) => this.#failed.abort(error));
  }
}

/** Hands one partition's records to the handler until `end` is called. */
class PartitionTask {
  readonly #ending = new AbortController();
  /** Resolves after `onRevoked`; rejects when the handler or the log failed. */
  readonly done: Promise<void>;

  constructor(
    private readonly parts: ConsumerParts,
    private readonly partition: OwnedPartition,
    private readonly handler: ConsumerHandler,
    private readonly maxBatchBytes = DEFAULT_BATCH_BYTES,
  ) {
    this.done = this.#run();
  }

  end(): void {
    this.#ending.abort();
  }

  async #run(): Promise<void> {
    const { store, reader, changed } = this.parts;
    const { claim } = this.partition;
    let offset = await this.handler.onAssigned(this.partition);
    try {
      while (!this.#ending.signal.aborted) {
        const batch = reader.next(claim.topic, claim.partition, offset, this.maxBatchBytes);
        if (batch) {
          offset += batch.count;
          await this.handler.onBatch(this.partition, batch, endOf(store, refKey(claim)) - offset);
        } else {
          await changed.wait(this.#ending.signal);
        }
      }
    } finally {
      await this.handler.onRevoked(this.partition);
    }
  }
}

class OwnedPartition implements Partition {
  /** A stopped process (SIGSTOP) still exists and retains its claims. */
  readonly heldForMs = Infinity;
  readonly topic: string;
  readonly partition: number;
  readonly log: string;

  constructor(
    private readonly parts: ConsumerParts,
    private readonly options: ConsumeOptions,
    readonly claim: Claim,
    private readonly membership: Membership,
  ) {
    this.topic = claim.topic.name;
    this.partition = claim.partition;
    this.log = claim.topic.log;
  }

  async committed(): Promise<Committed> {
    const { store } = this.parts;
    store.refresh();
    return store.commits.get(this.claim.key) ?? { offset: beginOf(store, refKey(this.claim)) };
  }

  async commit(offset: number, intent?: string, checkpoint?: string): Promise<void> {
    const { store } = this.parts;
    const { key, epoch } = this.claim;
    const row = {
      offset,
      ...(intent === undefined ? {} : { intent }),
      ...(checkpoint === undefined ? {} : { checkpoint }),
    };
    const [held] = await store.write('commit an offset', () => [
      store.claims.ifVersion(key, epoch, () => {
        store.commits.put(key, row);
      }),
    ]);
    if (!held) throw this.#lost();
  }

  async assertOwned(): Promise<void> {
    if (!this.membership.holds(this.claim)) throw this.#lost();
  }

  read(start: number, end: number): AsyncIterable<RecordBatch> {
    const { maxBatchBytes = DEFAULT_BATCH_BYTES } = this.options;
    return this.parts.reader.range(this.claim.topic, this.partition, start, end, maxBatchBytes);
  }

  #lost(): PartitionLostError {
    return new PartitionLostError(this.topic, this.partition, this.options.group);
  }
}
