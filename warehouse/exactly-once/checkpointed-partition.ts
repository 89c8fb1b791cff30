import type { PartitionStore } from './batch.js';
import { type Checkpoint, encodeCheckpoint } from './checkpoint.js';
import { decodeIntent, type Intent } from './intent.js';

interface BegunBatch {
  readonly start: number;
  readonly intent: Intent;
}

/** A partition whose commits carry a checkpoint; it follows from the intents, and changes nothing else of the protocol. */
export class CheckpointedPartition implements PartitionStore {
  readonly topic: string;
  readonly partition: number;
  readonly log: string;
  readonly heldForMs: number;
  readonly storedBefore: number;
  #checkpoint: Checkpoint;
  /** The batch of the last committed intent. */
  #begun: BegunBatch | undefined;

  /**
   * @param committed what is committed for the partition
   * @param checkpoint the checkpoint of that offset
   * @param recordTables names of tables: if a batch has rows, at least one of these tables has a row of it
   */
  constructor(
    private readonly inner: PartitionStore,
    committed: { readonly offset: number; readonly intent?: string },
    checkpoint: Checkpoint,
    private readonly recordTables: readonly string[],
  ) {
    this.topic = inner.topic;
    this.partition = inner.partition;
    this.log = inner.log;
    this.heldForMs = inner.heldForMs;
    this.storedBefore = checkpoint.storedBefore ?? 0;
    this.#checkpoint = checkpoint;
    this.#begun = this.#batchOf(committed.offset, committed.intent);
  }

  committed() {
    return this.inner.committed();
  }

  assertOwned(): Promise<void> {
    return this.inner.assertOwned();
  }

  async commit(offset: number, intent?: string): Promise<void> {
    const checkpoint = this.#checkpointAt(offset);
    await this.inner.commit(offset, intent, encodeCheckpoint(checkpoint));
    this.#checkpoint = checkpoint;
    this.#begun = this.#batchOf(offset, intent);
  }

  #checkpointAt(offset: number): Checkpoint {
    const { databases, last, storedBefore } = this.#checkpoint;
    const completed = this.#completedAt(offset) ?? last;
    return {
      v: 1,
      databases,
      ...(completed === undefined ? {} : { last: completed }),
      ...(storedBefore === undefined || offset >= storedBefore ? {} : { storedBefore }),
    };
  }

  /** The begun batch, if committing `offset` ends it. */
  #completedAt(offset: number): Checkpoint['last'] {
    if (!this.#begun || offset !== this.#begun.intent.end + 1) return undefined;
    const { start, intent } = this.#begun;
    const rows = this.recordTables.reduce((sum, table) => sum + (intent.n[table] ?? 0), 0);
    return rows === 0 ? undefined : { start, end: intent.end, shard: intent.shard, rows };
  }

  #batchOf(offset: number, intent: string | undefined): BegunBatch | undefined {
    if (intent === undefined || intent === '') return undefined;
    return { start: offset, intent: decodeIntent(intent, `${this.topic}/${this.partition}`) };
  }
}
