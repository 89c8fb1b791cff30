import type { RecordBatch } from '../../bus.js';
import { UnreadableRecordsError } from '../../errors.js';
import { Bounds } from './bounds.js';
import { extentOf, OpenBatch, UnreadableBatch } from './open-batch.js';

/**
 * The record batches of one fetch response, from an offset on. Offsets must be contiguous: a gap between batches or
 * within one, or a batch that cannot be decoded, throws `UnreadableRecordsError` after the records before it were taken.
 */
export class RecordSet {
  #at = 0;
  #open: OpenBatch | undefined;
  #openEnd = 0;
  #next: number;
  /** The offset after the last complete batch: the offset of the next fetch. */
  readonly end: number;

  /** @param from the requested offset; records before it are skipped */
  constructor(
    readonly bytes: Buffer,
    private readonly topic: string,
    private readonly partition: number,
    from: number,
  ) {
    this.#next = from;
    let end = from;
    for (let at = 0, batch = extentOf(bytes, 0); batch; at = batch.next, batch = extentOf(bytes, at)) end = batch.end;
    this.end = end;
  }

  get size(): number {
    return this.bytes.length;
  }

  get drained(): boolean {
    return this.#next >= this.end;
  }

  /**
   * The next records before `until`: at most `maxBytes` of values, but at least one record; undefined without any. Nothing
   * is copied: the result refers to the response's bytes and to `bounds`.
   * @throws UnreadableRecordsError
   */
  take(maxBytes: number, { until = Infinity, bounds = new Bounds() } = {}): RecordBatch | undefined {
    const firstOffset = this.#next;
    const limit = Math.min(until, this.end);
    bounds.clear();
    let bytes = this.bytes;
    try {
      for (let size = 0; this.#next < limit; this.#next++) {
        const open = this.#batchOf(this.#next);
        if (bounds.count === 0) bytes = open.bytes;
        else if (open.bytes !== bytes) break;
        open.peek();
        size += open.end - open.start;
        if (bounds.count > 0 && size > maxBytes) break;
        bounds.add(open.start, open.end);
        open.advance();
      }
    } catch (error) {
      if (!(error instanceof UnreadableBatch)) throw error;
      if (bounds.count === 0) {
        throw new UnreadableRecordsError(this.topic, this.partition, this.#next, this.#openEnd, error.message);
      }
    }
    const { count } = bounds;
    return count > 0 ? { firstOffset, count, bytes, bounds: bounds.finish() } : undefined;
  }

  /** The open batch, positioned at the record of the offset. */
  #batchOf(offset: number): OpenBatch {
    if (this.#open && !this.#open.drained) return this.#open;
    let extent = extentOf(this.bytes, this.#at);
    while (extent && extent.end <= offset) {
      this.#at = extent.next;
      extent = extentOf(this.bytes, this.#at);
    }
    if (!extent || extent.base > offset) {
      this.#openEnd = extent?.base ?? this.end;
      throw new UnreadableBatch('they are missing (is the topic compacted?)');
    }
    this.#openEnd = extent.end;
    const open = new OpenBatch(this.bytes, this.#at, extent.next);
    for (let before = extent.base; before < offset; before++) {
      open.peek();
      open.advance();
    }
    this.#at = extent.next;
    this.#open = open;
    return open;
  }
}
