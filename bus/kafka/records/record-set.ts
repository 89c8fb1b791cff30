import type { RecordBatch } from '../../bus.js';
import { UnreadableRecordsError } from '../../errors.js';
import { extentOf, OpenBatch, UnreadableBatch } from './open-batch.js';
import { Values } from './values.js';

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
    private readonly bytes: Buffer,
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

  /** The offset of the next record. */
  get next(): number {
    return this.#next;
  }

  /**
   * The next records, of at most `maxBytes` of values but at least one, before `until`; undefined when there is none.
   * @throws UnreadableRecordsError
   */
  take(maxBytes: number, until = Infinity): RecordBatch | undefined {
    const firstOffset = this.#next;
    const values = new Values(Math.min(maxBytes, this.size));
    this.moveInto(values, maxBytes, until);
    return values.count > 0 ? { firstOffset, ...values.finish() } : undefined;
  }

  /**
   * Moves records to those that are there already, as long as they are of at most `maxBytes` together, or one.
   * @throws UnreadableRecordsError when there was none and the next one cannot be read
   */
  moveInto(values: Values, maxBytes: number, until = Infinity): void {
    const limit = Math.min(until, this.end);
    try {
      while (this.#next < limit && this.#takeOne(values, maxBytes)) this.#next++;
    } catch (error) {
      if (!(error instanceof UnreadableBatch)) throw error;
      if (values.count === 0) {
        throw new UnreadableRecordsError(this.topic, this.partition, this.#next, this.#openEnd, error.message);
      }
    }
  }

  #takeOne(values: Values, maxBytes: number): boolean {
    const open = this.#batchOf(this.#next);
    open.peek();
    if (!values.add(open.bytes, open.start, open.end, maxBytes)) return false;
    open.advance();
    return true;
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
    const open = new OpenBatch(this.bytes.subarray(this.#at, extent.next));
    for (let before = extent.base; before < offset; before++) {
      open.peek();
      open.advance();
    }
    this.#at = extent.next;
    this.#open = open;
    return open;
  }
}
