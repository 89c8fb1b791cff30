import type { Clock } from '../../core/index.js';
import type { BusRecord, RecordPosition } from '../bus.js';
import { BusWriteError, RecordTooLargeError } from '../errors.js';
import { partitionOf } from '../key-hash.js';
import { type Block, encodeBlocks } from './block.js';
import type { ChangeSignal } from './signal.js';
import type { EndRow, PartitionKey, Store } from './store.js';
import { blockKey, type Topic } from './topics.js';

/** One queued call of `append`. */
interface Waiting {
  readonly topic: Topic;
  readonly records: readonly BusRecord[];
  readonly positions: RecordPosition[];
  readonly signal: AbortSignal | undefined;
  resolve(positions: RecordPosition[]): void;
  reject(error: unknown): void;
}

/** The records that one commit appends to one partition. */
interface PartitionBatch {
  readonly key: PartitionKey;
  readonly values: Uint8Array[];
  /** The call of each value, and the record's index in it. */
  readonly calls: Waiting[];
  readonly indexes: number[];
  blocks: Block[];
}

/** Upper bound of the values in one commit; further calls wait for the next one. */
const MAX_COMMIT_BYTES = 16 * 1024 * 1024;
/** Maximum number of retries when other processes append first. */
const MAX_CONFLICTS = 1000;

/** Group commit: calls that arrive during a commit are written together by the next one. */
export class Appender {
  readonly #queue: Waiting[] = [];
  readonly #ends = new Map<string, EndRow>();
  #running: Promise<void> | undefined;

  constructor(
    private readonly store: Store,
    private readonly changed: ChangeSignal,
    private readonly clock: Clock,
    private readonly maxRecordBytes: number,
  ) {}

  append(topic: Topic, records: readonly BusRecord[], signal?: AbortSignal): Promise<RecordPosition[]> {
    for (const { value } of records) {
      if (value.length > this.maxRecordBytes)
        return Promise.reject(new RecordTooLargeError(topic.name, value.length, this.maxRecordBytes));
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (records.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#queue.push({ topic, records, positions: new Array(records.length), signal, resolve, reject });
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
    });
  }

  /** Resolves when nothing is queued or being written. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // Calls of the same event-loop turn share a commit.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.store.assertFreeSpace();
        await this.#commit(group);
        for (const waiting of group) waiting.resolve(waiting.positions);
      } catch (error) {
        this.#ends.clear();
        for (const waiting of group) waiting.reject(error);
      }
    }
  }

  #takeGroup(): Waiting[] {
    const group: Waiting[] = [];
    let size = 0;
    for (let next = this.#queue[0]; next && size < MAX_COMMIT_BYTES; next = this.#queue[0]) {
      this.#queue.shift();
      if (next.signal?.aborted) {
        next.reject(next.signal.reason);
        continue;
      }
      group.push(next);
      for (const { value } of next.records) size += value.length;
    }
    return group;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    let left = this.#split(group);
    for (let conflicts = 0; left.length > 0; conflicts++) {
      if (conflicts > MAX_CONFLICTS) {
        throw new BusWriteError(
          `cannot append to ${this.store.dir}: other processes appended first ${MAX_CONFLICTS} times in a row`,
        );
      }
      const ends = left.map((batch) => this.#end(batch.key));
      const held = await this.store.write('append', () => left.map((batch, i) => this.#put(batch, ends[i] as EndRow)));
      left = left.filter((batch, i) => {
        if (held[i]) this.#setPositions(batch, ends[i] as EndRow);
        else this.#ends.delete(String(batch.key));
        return !held[i];
      });
      if (held.includes(true)) this.changed.notify();
    }
  }

  #split(group: readonly Waiting[]): PartitionBatch[] {
    const batches = new Map<string, PartitionBatch>();
    for (const waiting of group) {
      const { topic, records } = waiting;
      const ofTopic: (PartitionBatch | undefined)[] = [];
      for (let i = 0; i < records.length; i++) {
        const { key, value } = records[i] as BusRecord;
        const partition = partitionOf(key, topic.partitions);
        let batch = ofTopic[partition];
        if (!batch) {
          const at: PartitionKey = [topic.id, partition];
          batch = batches.get(String(at)) ?? { key: at, values: [], calls: [], indexes: [], blocks: [] };
          batches.set(String(at), batch);
          ofTopic[partition] = batch;
        }
        batch.values.push(value);
        batch.calls.push(waiting);
        batch.indexes.push(i);
      }
    }
    const now = this.clock.nowMs();
    for (const batch of batches.values()) batch.blocks = encodeBlocks(batch.values, now);
    return [...batches.values()];
  }

  #end(key: PartitionKey): EndRow {
    let row = this.#ends.get(String(key));
    if (!row) {
      this.store.refresh();
      row = this.store.ends.get(key) ?? { end: 0, bytes: 0 };
      this.#ends.set(String(key), row);
    }
    return row;
  }

  /** Writes the blocks at `at.end`, if that is still the end when the transaction runs. */
  #put(batch: PartitionBatch, at: EndRow): Promise<boolean> {
    const { ends, blocks } = this.store;
    const next = after(batch, at);
    return ends.ifVersion(batch.key, at.end + 1, () => {
      let offset = at.end;
      for (const block of batch.blocks) {
        blocks.put(blockKey(batch.key, offset), block.bytes);
        offset += block.count;
      }
      ends.put(batch.key, next, next.end + 1);
    });
  }

  #setPositions(batch: PartitionBatch, at: EndRow): void {
    this.#ends.set(String(batch.key), after(batch, at));
    const partition = batch.key[1];
    for (let i = 0; i < batch.calls.length; i++) {
      const call = batch.calls[i] as Waiting;
      call.positions[batch.indexes[i] as number] = { partition, offset: at.end + i };
    }
  }
}

function after(batch: PartitionBatch, at: EndRow): EndRow {
  let bytes = at.bytes;
  for (const block of batch.blocks) bytes += block.bytes.length;
  return { end: at.end + batch.values.length, bytes };
}
