import type { RecordBatch } from '../../bus.js';
import { UnreadableRecordsError } from '../../errors.js';
import { Bounds } from './bounds.js';
import { extentOf, OpenBatch, UnreadableBatch } from './open-batch.js';

/**
 * The record batches of one answer to a fetch, from an offset on. Every offset must be there: a batch that does not
 * follow the one before it, a hole inside one, or a batch that cannot be read throws `UnreadableRecordsError`, after
 * the records before it were taken.
 */
export class RecordSet {
  #at = 0;
  #open: OpenBatch | undefined;
  #openEnd = 0;
  #next: number;
  /** The offset after the last complete batch: where the next fetch begins. */
  readonly end: number;

  /** @param from the offset that was asked for; records before it are passed over */
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
   * The next records, of at most `maxBytes` of values but at least one, before `until`; undefined when there is none.
   * They stay where they are: the answer holds on to the bytes that came, and to `bounds`.
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

  /** The batch of which the next record is that of the offset. */
  #batchOf(offset: number): OpenBatch {
    if (this.#open && !this.#open.drained) return this.#open;
    let extent = extentOf(this.bytes, this.#at);
    while (extent && extent.end <= offset) {
      this.#at = extent.next;
      extent = extentOf(this.bytes, this.#at);
    }
    if (!extent || extent.base > offset) {
      this.#openEnd = extent?.base ?? this.end;
      throw new UnreadableBatch('they are missing, as if the topic were compacted');
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
