import { PartitionLostError, type RecordBatch } from '../../bus/index.js';
import { type Clock, IntegrityError, Stopped } from '../../core/index.js';
import type { PartitionWriter } from '../../warehouse/index.js';
import type { BatchBuilder, BuiltBatch } from '../batch/batch-builder.js';
import type { BatchBudget, MemoryUser } from './batch-budget.js';

interface PipelineOptions {
  readonly topic: string;
  readonly partition: number;
  readonly builder: BatchBuilder;
  readonly writer: PartitionWriter;
  /** The memory that it shares with other partitions. */
  readonly budget: Pick<BatchBudget, 'admits' | 'change' | 'changed'>;
  /**
   * How long a batch grows, milliseconds; twice as long while it has few records, four times while more are on the bus. It
   * continues to grow while the previous batch is being written.
   */
  readonly delayMs: number;
  /** How long the first batch grows while no more is on the bus, milliseconds: after a start, data is visible soon. */
  readonly firstDelayMs: number;
  /** How long a batch waits for the next piece of a body, milliseconds. */
  readonly pieceDelayMs: number;
  readonly clock: Clock;
  readonly onWritten: (built: BuiltBatch) => void;
  /** Called once when the partition's batches cannot be written; not after the partition was lost or closed. */
  readonly onFailed: (error: unknown) => void;
}

/** An insert has a fixed cost in ClickHouse, so a batch with fewer records waits longer. */
const SMALL_BATCH_RECORDS = 200;
const SMALL_BATCH_FACTOR = 2;
/** More bytes of rows than this in memory are a lag. */
const LAGGING_BYTES = 4e6;
/** While the worker lags it writes large batches, so that ClickHouse has fewer parts to merge. */
const LAGGING_FACTOR = 4;

/**
 * One partition while this worker owns it: records are added to a batch, which goes to the writer when it is full or old
 * enough. Further batches are built while it is being inserted; with two batches at the writer and a third one full, `take`
 * waits.
 */
export class PartitionPipeline implements MemoryUser {
  #timer: NodeJS.Timeout | undefined;
  /** Time of the batch's first record, milliseconds. */
  #begunAt = 0;
  /** Time since when the batch waits for the next piece of a body, milliseconds. */
  #waitingForPiecesSince: number | undefined;
  #sealing: Promise<void> | undefined;
  /** Whether it accepts no more records. */
  #flushing = false;
  #ended = false;
  /** Whether it waits for memory. */
  #waitsForMemory = false;
  /** Whether more records are on the bus. */
  #lagging = false;
  /** Whether no batch was passed to the writer yet. */
  #first = true;
  #expected: number;
  /** Bytes of rows of the batches that are being written. */
  #bytesAtWriter = 0;

  constructor(private readonly options: PipelineOptions) {
    this.#expected = options.writer.nextOffset;
  }

  get bytesInMemory(): number {
    return this.options.builder.bytes + this.#bytesAtWriter;
  }

  /** Whether more records are on the bus, or more in memory than a batch has that waits no longer than usual. */
  get isLagging(): boolean {
    return this.#lagging || this.bytesInMemory > LAGGING_BYTES;
  }

  get awaitsPieces(): boolean {
    return !this.#ended && this.options.builder.awaitsPieces;
  }

  /**
   * Takes consecutive records; resolves when it can take more.
   * @param lag number of further records on the bus
   * @throws IntegrityError when they do not follow the previous ones
   */
  async take(batch: RecordBatch, lag: number): Promise<void> {
    const { builder, topic, partition } = this.options;
    if (this.#ended) return;
    if (batch.firstOffset !== this.#expected) {
      throw new IntegrityError(
        `the bus delivered offset ${batch.firstOffset} of ${topic}/${partition} instead of ${this.#expected}; ` +
          'no record was skipped: restart the worker; if that does not help, find out what deletes records',
      );
    }
    this.#expected += batch.count;
    this.#lagging = lag > 0;
    for (let from = 0; from < batch.count; ) {
      await this.#memory();
      if (this.#ended) return;
      const { awaitsPieces, bytesOfPieces } = builder;
      if (builder.records === 0) this.#begin();
      from = builder.add(batch, from);
      if (awaitsPieces && !builder.awaitsPieces) this.options.budget.changed();
      if (!builder.awaitsPieces) this.#waitingForPiecesSince = undefined;
      else if (builder.bytesOfPieces !== bytesOfPieces) this.#waitingForPiecesSince = this.options.clock.elapsedMs();
      if (builder.full) await this.#seal();
    }
  }

  /**
   * Writes the records taken so far; resolves when they are in ClickHouse. A batch that waits for pieces of a body is
   * dropped: the partition's next owner reads its records again, with the missing pieces.
   */
  async flush(): Promise<void> {
    this.#flushing = true;
    clearTimeout(this.#timer);
    await this.#seal();
    await this.options.writer.flush();
  }

  /** Closes the pipeline; the partition's next owner reads records that did not reach the writer again. */
  async close(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.options.budget.changed();
    await this.options.writer.close();
  }

  /** Resolves when it may take records, or has ended. */
  async #memory(): Promise<void> {
    const { budget, clock } = this.options;
    while (!this.#ended && !budget.admits(this)) {
      this.#waitsForMemory = true;
      await budget.change;
    }
    if (this.#waitsForMemory && this.#waitingForPiecesSince !== undefined)
      this.#waitingForPiecesSince = clock.elapsedMs();
    this.#waitsForMemory = false;
  }

  #begin(): void {
    this.#begunAt = this.options.clock.elapsedMs();
    this.#wait(this.#checkMs);
  }

  /** After how long a batch is looked at again, milliseconds. */
  get #checkMs(): number {
    return this.#first ? this.options.firstDelayMs : this.options.delayMs;
  }

  /** How long the batch grows, milliseconds. */
  get #growMs(): number {
    const { builder, delayMs, firstDelayMs } = this.options;
    if (this.#lagging) return LAGGING_FACTOR * delayMs;
    if (this.#first) return firstDelayMs;
    return builder.records < SMALL_BATCH_RECORDS ? SMALL_BATCH_FACTOR * delayMs : delayMs;
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#due(), ms);
  }

  #due(): void {
    const leftMs = Math.max(this.#begunAt + this.#growMs - this.options.clock.elapsedMs(), this.#piecesMs);
    if (leftMs > 1) this.#wait(Math.min(leftMs, this.#checkMs));
    else void this.#seal();
  }

  /** Remaining wait for pieces of a body, milliseconds; 0 without a wait. Pieces that wait for memory are not missing. */
  get #piecesMs(): number {
    const { clock, pieceDelayMs } = this.options;
    if (this.#waitingForPiecesSince === undefined) return 0;
    if (this.#waitsForMemory) return pieceDelayMs;
    return Math.max(0, this.#waitingForPiecesSince + pieceDelayMs - clock.elapsedMs());
  }

  /** Passes the batch to the writer as soon as it accepts one; until then the batch grows. Never rejects. */
  #seal(): Promise<void> {
    this.#sealing ??= this.#passToWriter().finally(() => {
      this.#sealing = undefined;
    });
    return this.#sealing;
  }

  async #passToWriter(): Promise<void> {
    const { builder, writer, budget, onWritten } = this.options;
    clearTimeout(this.#timer);
    try {
      await writer.ready();
      // The missing pieces may have arrived while the writer was busy.
      if (builder.awaitsPieces && !builder.full && (this.#flushing || this.#piecesMs > 1)) {
        if (!this.#flushing && !this.#ended) this.#wait(Math.min(this.#piecesMs, this.#checkMs));
        return;
      }
      const built = this.#ended ? undefined : builder.finish();
      this.#waitingForPiecesSince = undefined;
      budget.changed();
      if (!built) return;
      this.#first = false;
      const bytes = built.blocks.reduce((sum, { body }) => sum + body.length, 0);
      this.#bytesAtWriter += bytes;
      writer.write(built).then(
        () => {
          this.#bytesAtWriter -= bytes;
          budget.changed();
          onWritten(built);
        },
        (error) => this.#failed(error),
      );
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.options.budget.changed();
    // Another worker owns the partition and resumes at the last commit.
    if (error instanceof PartitionLostError || error instanceof Stopped) return;
    this.options.onFailed(error);
  }
}
