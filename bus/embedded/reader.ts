import type { RecordBatch } from '../bus.js';
import { OffsetBeyondEndError, OffsetGoneError } from '../errors.js';
import { BatchBuilder, BlockView } from './block.js';
import type { BlockKey, PartitionKey, Store } from './store.js';
import { beginOf, blockKey, endOf, type Topic } from './topics.js';

/** Reads consecutive records of a partition out of its blocks. */
export class Reader {
  constructor(private readonly store: Store) {}

  /**
   * Records from `offset` up to `end` (exclusive) or the partition's end: at most `maxBytes`, but at least one record;
   * undefined when there is none yet.
   * @throws OffsetGoneError, OffsetBeyondEndError
   */
  next(topic: Topic, partition: number, offset: number, maxBytes: number, end = Infinity): RecordBatch | undefined {
    this.store.refresh();
    const key: PartitionKey = [topic.id, partition];
    const [logStart, logEnd] = [beginOf(this.store, key), endOf(this.store, key)];
    if (offset < logStart) throw new OffsetGoneError(topic.name, partition, offset, logStart);
    if (offset > logEnd) throw new OffsetBeyondEndError(topic.name, partition, offset, logEnd);
    const until = Math.min(logEnd, end);
    if (offset >= until) return undefined;
    const batch = new BatchBuilder(offset, maxBytes);
    while (batch.nextOffset < until && batch.add(this.#blockWith(topic, key, batch.nextOffset), until));
    return batch.build();
  }

  /** Exactly [start, end], in batches. */
  async *range(topic: Topic, partition: number, start: number, end: number, maxBytes: number) {
    for (let offset = start; offset <= end; ) {
      const batch = this.next(topic, partition, offset, maxBytes, end + 1);
      if (!batch) throw new OffsetBeyondEndError(topic.name, partition, end, offset);
      offset += batch.count;
      yield batch;
    }
  }

  #blockWith(topic: Topic, key: PartitionKey, offset: number): BlockView {
    const { blocks } = this.store;
    let first = blockKey(key, offset);
    let bytes = blocks.getBinary(first);
    if (!bytes) {
      const [before] = blocks.getKeys({ start: first, end: key, reverse: true, limit: 1 });
      first = before ?? first;
      bytes = blocks.getBinary(first);
    }
    const view = new BlockView(bytes ?? Buffer.alloc(0), first[2], describeBlock(topic, first));
    return view.endOffset > offset
      ? view
      : new BlockView(Buffer.alloc(0), offset, describeBlock(topic, blockKey(key, offset)));
  }
}

const describeBlock = (topic: Topic, [, partition, offset]: BlockKey): string => `${topic.name}/${partition}/${offset}`;
