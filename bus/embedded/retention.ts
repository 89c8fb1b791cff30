import type { Clock } from '../../core/index.js';
import { BlockView } from './block.js';
import type { BlockKey, PartitionKey, Store } from './store.js';
import type { Topic, TopicCatalogue } from './topics.js';

/** Blocks looked at and removed in one transaction, at most. */
const STEP_BLOCKS = 64;

/** Removes the oldest blocks that are too old, or too many for the partition's size. Any process may do it, at any time. */
export class Retention {
  constructor(
    private readonly store: Store,
    private readonly topics: TopicCatalogue,
    private readonly clock: Clock,
  ) {}

  /** Goes over all partitions, yielding between steps; answers how many records were removed. */
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
    const doomed: BlockKey[] = [];
    const oldest = this.clock.nowMs() - (topic.retentionMs ?? Infinity);
    const most = topic.retentionBytes ?? Infinity;
    for (const blockAt of store.blocks.getKeys({ start: key, end: [...key, Infinity], limit: STEP_BLOCKS })) {
      const value = store.blocks.getBinary(blockAt);
      if (!value) break;
      const block = new BlockView(value, blockAt[2], `${topic.name}/${key[1]}/${blockAt[2]}`);
      if (block.appendedAtMs >= oldest && end.bytes - bytes <= most) break;
      doomed.push(blockAt);
      begin = block.endOffset;
      bytes += value.length;
    }
    if (doomed.length === 0) return 0;
    const [held] = await store.write('remove old records', () => [
      store.begins.ifVersion(key, row.begin + 1, () => {
        for (const blockAt of doomed) store.blocks.remove(blockAt);
        store.begins.put(key, { begin, bytes }, begin + 1);
      }),
    ]);
    return held ? begin - row.begin : 0;
  }
}
