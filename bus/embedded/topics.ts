import { randomUUID } from 'node:crypto';
import type { PartitionInfo, TopicOptions } from '../bus.js';
import { UnknownTopicError } from '../errors.js';
import type { BlockKey, PartitionKey, Store, TopicRow } from './store.js';

export interface Topic extends TopicRow {
  readonly name: string;
}

/** The topics of the log, cached after the first read (a topic never changes its identity). */
export class TopicCatalogue {
  readonly #known = new Map<string, Topic>();

  constructor(private readonly store: Store) {}

  /** Creates the topic; an existing one gets the new retention and keeps its partitions and records. */
  async ensure(name: string, options: TopicOptions): Promise<void> {
    const { topics, ends, begins } = this.store;
    const { retentionMs, retentionBytes } = options;
    await this.store.transact(`create topic ${name}`, () => {
      const existing = topics.get(name);
      if (existing) {
        if (existing.retentionMs !== retentionMs || existing.retentionBytes !== retentionBytes)
          topics.put(name, { ...existing, retentionMs, retentionBytes });
        return;
      }
      const id = 1 + Math.max(0, ...topics.getRange().map(({ value }) => value.id));
      for (let partition = 0; partition < options.partitions; partition++) {
        ends.put([id, partition], { end: 0, bytes: 0 }, 1);
        begins.put([id, partition], { begin: 0, bytes: 0 }, 1);
      }
      topics.put(name, { id, log: randomUUID(), partitions: options.partitions, retentionMs, retentionBytes });
    });
    this.#known.delete(name);
  }

  /** Throws `UnknownTopicError`. */
  get(name: string): Topic {
    let topic = this.#known.get(name);
    if (!topic) {
      this.store.refresh();
      const row = this.store.topics.get(name);
      if (!row) throw new UnknownTopicError(name, `the embedded log ${this.store.dir}`);
      topic = { name, ...row };
      this.#known.set(name, topic);
    }
    return topic;
  }

  /** All topics, read from the store. */
  all(): Topic[] {
    this.store.refresh();
    return [...this.store.topics.getRange().map(({ key, value }) => ({ name: key, ...value }))];
  }

  extents(topic: Topic): PartitionInfo[] {
    return Array.from({ length: topic.partitions }, (_, partition) => ({
      topic: topic.name,
      partition,
      log: topic.log,
      begin: beginOf(this.store, [topic.id, partition]),
      end: endOf(this.store, [topic.id, partition]),
    }));
  }
}

export const beginOf = (store: Store, key: PartitionKey): number => store.begins.get(key)?.begin ?? 0;
export const endOf = (store: Store, key: PartitionKey): number => store.ends.get(key)?.end ?? 0;
export const refKey = (at: { topic: Topic; partition: number }): PartitionKey => [at.topic.id, at.partition];
export const blockKey = ([topic, partition]: PartitionKey, offset: number): BlockKey => [topic, partition, offset];
