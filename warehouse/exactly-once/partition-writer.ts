import { type Deferred, deferred, IntegrityError, Stopped } from '../../core/index.js';
import { BATCH_LIMITS, type Batch, type PartitionWriter } from './batch.js';
import { commitIntent } from './commits.js';
import { makeIntent, type Target } from './intent.js';
import { NotOwnedError } from './ownership.js';
import { batchInMemory, type PendingBatch, report } from './pending-batch.js';
import { mayBeStored, reconcile, sendAll } from './reconcile.js';
import type { WriterContext } from './writer-context.js';

interface Item {
  readonly batch: PendingBatch;
  readonly done: Deferred<void>;
  /** Its intent was committed together with the end of the previous batch. */
  announced: boolean;
}

/** Limits of a batch of a single record. */
const MAX_RECORD_ROWS = 10 * BATCH_LIMITS.rows;
const MAX_RECORD_BYTES = 2 * BATCH_LIMITS.bytes;
const CLOSE_GRACE_MS = 5000;

/** Writes the batches of one partition one at a time; the commit that ends a batch carries the intent of the next. */
export class QueuedPartitionWriter implements PartitionWriter {
  #nextOffset: number;
  #failure: { readonly error: unknown } | undefined;
  #closed = false;
  #running = false;
  #pump: Promise<void> = Promise.resolve();
  readonly #queue: Item[] = [];
  #progress = deferred();

  constructor(
    private readonly context: WriterContext,
    private readonly options: { readonly transforms: string; readonly target: Target; readonly abort: () => void },
    firstOffset: number,
  ) {
    this.#nextOffset = firstOffset;
  }

  get nextOffset(): number {
    return this.#nextOffset;
  }

  write(batch: Batch): Promise<void> {
    try {
      if (this.#failure) throw this.#failure.error;
      if (this.#closed) throw new Stopped('the writer of this partition is closed');
      this.#check(batch);
    } catch (error) {
      return Promise.reject(error);
    }
    const { topic, log, partition } = this.context.partition;
    const { start, end, blocks } = batch;
    const intent = makeIntent(batch, this.options.transforms, this.options.target);
    const item: Item = {
      batch: batchInMemory({ topic, log, partition, start, end }, intent, blocks),
      done: deferred(),
      announced: false,
    };
    // The caller may pass the next batch before it awaits this promise, or await only `ready()`.
    item.done.promise.catch(() => undefined);
    this.#queue.push(item);
    this.#nextOffset = end + 1;
    if (!this.#running) {
      this.#running = true;
      this.#pump = this.#run();
    }
    return item.done.promise;
  }

  async ready(): Promise<void> {
    while (this.#queue.length > 1 && !this.#failure) await this.#progress.promise;
    if (this.#failure) throw this.#failure.error;
  }

  async flush(): Promise<void> {
    while (this.#running) await this.#pump;
    if (this.#failure) throw this.#failure.error;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const item of this.#queue.splice(1)) item.done.reject(new Stopped('closed before it was sent'));
    const timer = setTimeout(this.options.abort, CLOSE_GRACE_MS);
    await this.#pump;
    clearTimeout(timer);
    this.options.abort();
  }

  #check({ start, end, blocks }: Batch): void {
    if (start !== this.#nextOffset || end < start) {
      throw new IntegrityError(
        `received a batch of offsets ${start} to ${end} for ${this.context.partition.topic}/` +
          `${this.context.partition.partition}, expected one from ${this.#nextOffset}; restart the worker`,
      );
    }
    const names = new Set(blocks.map((block) => block.table.name));
    const rows = Math.max(0, ...blocks.map((block) => block.rows));
    const bytes = blocks.reduce((sum, block) => sum + block.body.length, 0);
    const empty = blocks.some((block) => block.rows < 1);
    if (names.size < blocks.length || empty || rows > MAX_RECORD_ROWS || bytes > MAX_RECORD_BYTES) {
      throw new IntegrityError(
        `the batch of offsets ${start} to ${end} has ${blocks.length} blocks for ${names.size} tables, up to ${rows} rows in ` +
          `one block and ${bytes} bytes, which exceeds the limits of a batch; lower --batch-rows`,
      );
    }
  }

  /** Never rejects: a failure is stored and rejects all waiting calls. */
  async #run(): Promise<void> {
    try {
      for (let item = this.#queue[0]; item; item = this.#queue[0]) {
        await this.#writeOne(item);
        this.#queue.shift();
        item.done.resolve();
        this.#wake();
      }
    } catch (thrown) {
      const error = thrown instanceof NotOwnedError ? thrown.cause : thrown;
      this.#failure = { error };
      for (const item of this.#queue.splice(0)) item.done.reject(error);
      this.#wake();
    } finally {
      this.#running = false;
    }
  }

  async #writeOne(item: Item): Promise<void> {
    const { context } = this;
    const { range, intent, tables } = item.batch;
    if (tables.length > 0) {
      if (!item.announced) await commitIntent(context, range.start, intent);
      await this.#insert(item.batch);
    }
    const next = this.#queue[1];
    if (next && next.batch.tables.length > 0) {
      await commitIntent(context, range.end + 1, next.batch.intent);
      next.announced = true;
    } else {
      await context.partition.commit(range.end + 1);
    }
    report(context, item.batch, { type: 'written' });
  }

  async #insert(batch: PendingBatch): Promise<void> {
    const { context } = this;
    if (mayBeStored(context, batch.range)) return reconcile(context, batch);
    try {
      await sendAll(context, batch);
    } catch (error) {
      if (context.signal.aborted || error instanceof NotOwnedError) throw error;
      await reconcile(context, batch, error);
    }
  }

  #wake(): void {
    this.#progress.resolve();
    this.#progress = deferred();
  }
}
