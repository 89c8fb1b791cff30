import type { Clock } from '../../core/index.js';
import { BlockView } from './block.js';
import type { BlockKey, PartitionKey, Store } from './store.js';
import type { Topic, TopicCatalogue } from './topics.js';

/** Upper bound of the blocks deleted in one transaction. */
const MAX_STEP_BLOCKS = 64;

/** Deletes the oldest blocks of partitions that exceed their age or size limit. Any process may do it at any time. */
export class Retention {
  constructor(
    private readonly store: Store,
    private readonly topics: TopicCatalogue,
    private readonly clock: Clock,
  ) {}

  /** Applies retention to all partitions in small steps; returns the number of deleted records. */
  async sweep(signal: AbortSignal): Promise<number> {
    let removed = 0;
    for (const topic of this.topics.all()) {
      if (topic.retentionMs === null && topic.retentionBytes === null) continue;
      for (let partition = 0; partition < topic.partitions; partition++) {
        for (let step = -1; step !== 0; removed += step) {
          if (signal.aborted) return removed;
          step = await this.#step(topic, [topic.id, partition]);
        }
      }
    }
    return removed;
  }

  async #step(topic: Topic, key: PartitionKey): Promise<number> {
    const { store } = this;
    store.refresh();
    const row = store.begins.get(key);
    const end = store.ends.get(key);
    if (!row || !end) return 0;
    let { begin, bytes } = row;
    const expired: BlockKey[] = [];
    const oldest = this.clock.nowMs() - (topic.retentionMs ?? Infinity);
    const maxBytes = topic.retentionBytes ?? Infinity;
    for (const blockAt of store.blocks.getKeys({ start: key, end: [...key, Infinity], limit: MAX_STEP_BLOCKS })) {
      const value = store.blocks.getBinary(blockAt);
      if (!value) break;
      const block = new BlockView(value, blockAt[2], `${topic.name}/${key[1]}/${blockAt[2]}`);
      if (block.appendedAtMs >= oldest && end.bytes - bytes <= maxBytes) break;
      expired.push(blockAt);
      begin = block.endOffset;
      bytes += value.length;
    }
    if (expired.length === 0) return 0;
    const [held] = await store.write('remove old records', () => [
      store.begins.ifVersion(key, row.begin + 1, () => {
        for (const blockAt of expired) store.blocks.remove(blockAt);
        store.begins.put(key, { begin, bytes }, begin + 1);
      }),
    ]);
    return held ? begin - row.begin : 0;
  }
}
