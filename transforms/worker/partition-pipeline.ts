import { PartitionLostError, type RecordBatch } from '../../bus/index.js';
import { type Clock, IntegrityError, Stopped } from '../../core/index.js';
import type { PartitionWriter } from '../../warehouse/index.js';
import type { BatchBuilder, BuiltBatch } from '../batch/batch-builder.js';
import type { Holder } from './batch-budget.js';

export interface PipelineOptions {
  readonly topic: string;
  readonly partition: number;
  readonly builder: BatchBuilder;
  readonly writer: PartitionWriter;
  /**
   * How long a batch may wait to grow, milliseconds; twice as long while it holds few records, and four times while more
   * wait on the bus. It grows on while the one before it is being written.
   */
  readonly delayMs: number;
  /** How long a batch that holds some pieces of a body waits for the others, milliseconds. */
  readonly pieceDelayMs: number;
  readonly clock: Clock;
  readonly onWritten: (built: BuiltBatch) => void;
  /** Called once, when the partition's batches cannot be written; not when the partition was lost or is closed. */
  readonly onFailed: (error: unknown) => void;
}

/** An insert costs ClickHouse the same, however few records it holds: a small batch waits for company. */
const FEW_RECORDS = 200;
const FEW_FACTOR = 2;
/** Who catches up writes large batches, so that ClickHouse has fewer small ones to merge. */
const BEHIND_FACTOR = 4;

/**
 * One partition while this worker owns it: records go into a batch, which is handed to the writer when it is full or
 * old enough. The next ones are built while that one is being inserted; with two batches handed over and a third one
 * full, records wait.
 */
export class PartitionPipeline implements Holder {
  #timer: NodeJS.Timeout | undefined;
  /** When the batch got its first record, milliseconds. */
  #begunAt = 0;
  /** Since when the batch has been waiting for pieces of a body, milliseconds. */
  #awaitingSince: number | undefined;
  #sealing: Promise<void> | undefined;
  /** No more records come. */
  #flushing = false;
  #ended = false;
  /** Whether more records wait on the bus than were taken. */
  #behind = false;
  #expected: number;
  /** Bytes of the batches that are being written. */
  #writing = 0;

  constructor(private readonly options: PipelineOptions) {
    this.#expected = options.writer.nextOffset;
  }

  get heldBytes(): number {
    return this.options.builder.bytes + this.#writing;
  }

  /**
   * Takes consecutive records; resolves when the next ones may come.
   * @param behind how many more wait on the bus
   * @throws IntegrityError when the records are not those that come next
   */
  async take(batch: RecordBatch, behind: number): Promise<void> {
    const { builder, topic, partition } = this.options;
    if (this.#ended) return;
    if (batch.firstOffset !== this.#expected) {
      throw new IntegrityError(
        `the bus handed over offset ${batch.firstOffset} of ${topic}/${partition} where ${this.#expected} comes next; ` +
          'nothing was skipped: start the worker again, and if that does not help, look for what deletes records',
      );
    }
    this.#expected += batch.count;
    this.#behind = behind > 0;
    for (let from = 0; from < batch.count && !this.#ended; ) {
      if (builder.records === 0) this.#begin();
      from = builder.add(batch, from);
      this.#awaitingSince = builder.awaitsPieces ? (this.#awaitingSince ?? this.options.clock.nowMs()) : undefined;
      if (builder.full) await this.#seal();
    }
  }

  /**
   * Writes what was taken; resolves when it is in ClickHouse. A batch that waits for pieces of a body is left out: the
   * partition's next owner takes its records again, with the missing ones.
   */
  async flush(): Promise<void> {
    this.#flushing = true;
    clearTimeout(this.#timer);
    await this.#seal();
    await this.options.writer.flush();
  }

  /** Ends the pipeline; what was not handed to the writer is taken again by the partition's next owner. */
  async close(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    await this.options.writer.close();
  }

  #begin(): void {
    this.#begunAt = this.options.clock.nowMs();
    this.#wait(this.options.delayMs);
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#due(), ms);
  }

  #due(): void {
    const { builder, clock, delayMs } = this.options;
    const factor = this.#behind ? BEHIND_FACTOR : builder.records < FEW_RECORDS ? FEW_FACTOR : 1;
    const leftMs = Math.max(this.#begunAt + factor * delayMs - clock.nowMs(), this.#piecesMs);
    if (leftMs > 1) this.#wait(Math.min(leftMs, delayMs));
    else void this.#seal();
  }

  /** How much longer pieces of a body are waited for, milliseconds; 0 while none are. */
  get #piecesMs(): number {
    const { clock, pieceDelayMs } = this.options;
    return this.#awaitingSince === undefined ? 0 : Math.max(0, this.#awaitingSince + pieceDelayMs - clock.nowMs());
  }

  /** Hands the batch over as soon as the writer takes one; until then it goes on growing. Never rejects. */
  #seal(): Promise<void> {
    this.#sealing ??= this.#handOver().finally(() => {
      this.#sealing = undefined;
    });
    return this.#sealing;
  }

  async #handOver(): Promise<void> {
    const { builder, writer, onWritten } = this.options;
    clearTimeout(this.#timer);
    try {
      await writer.ready();
      // Some may have come while the writer was busy.
      if (builder.awaitsPieces && !builder.full && (this.#flushing || this.#piecesMs > 1)) {
        if (!this.#flushing && !this.#ended) this.#wait(Math.min(this.#piecesMs, this.options.delayMs));
        return;
      }
      const built = this.#ended ? undefined : builder.finish();
      this.#awaitingSince = undefined;
      if (!built) return;
      const bytes = built.blocks.reduce((sum, { body }) => sum + body.length, 0);
      this.#writing += bytes;
      writer.write(built).then(
        () => {
          this.#writing -= bytes;
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
    // Another worker owns the partition now, and goes on where this one's last commit was.
    if (error instanceof PartitionLostError || error instanceof Stopped) return;
    this.options.onFailed(error);
  }
}
