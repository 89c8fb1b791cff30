import type { Appended, BusRecord } from '../bus.js';
import { partitionOf } from '../key-hash.js';
import type { BatchEncoder, ProducerStamp } from './records/encode.js';

/** Fits into the 1 MiB that a topic takes in one batch unless it was told otherwise. */
export const MAX_BATCH_BYTES = 1_000_000;

/** One record batch on its way; once it was sent under a stamp it is sent again only under that stamp. */
export interface OutgoingBatch {
  readonly bytes: Buffer;
  readonly count: number;
  stamp?: ProducerStamp | undefined;
}

/** The records of one append that go to one partition: batches that are sent one after the other. */
export class OutgoingPart {
  readonly #positions: number[] = [];
  readonly #offsets: number[] = [];
  batches: readonly OutgoingBatch[] = [];

  constructor(readonly partition: number) {}

  add(position: number): void {
    this.#positions.push(position);
  }

  get next(): OutgoingBatch | undefined {
    return this.batches[this.#offsets.length];
  }

  /** The next batch is durable from this offset on. */
  settle(offset: number): void {
    this.#offsets.push(offset);
  }

  async encode(records: readonly BusRecord[], encoder: BatchEncoder, timestampMs: number): Promise<void> {
    const own = this.#positions.map((position) => records[position] as BusRecord);
    const batches: OutgoingBatch[] = [];
    for (const part of encoder.split(own, MAX_BATCH_BYTES)) {
      batches.push({ bytes: await encoder.encode(part, timestampMs), count: part.length });
    }
    this.batches = batches;
  }

  place(into: Appended[]): void {
    let position = 0;
    for (const [i, batch] of this.batches.entries()) {
      const first = this.#offsets[i] ?? -1;
      for (let k = 0; k < batch.count; k++, position++) {
        into[this.#positions[position] as number] = { partition: this.partition, offset: first + k };
      }
    }
  }
}

/** One call of `append`: which of its records are durable, and which still have to be sent. */
export class AppendOperation {
  #parts: readonly OutgoingPart[] = [];
  #log: string | undefined;

  constructor(readonly records: readonly BusRecord[]) {}

  /**
   * Divides the records among the topic's partitions and encodes them: once, and once more when the topic is another
   * one by now, for what went to the former is gone.
   */
  async prepare(
    topic: { readonly log: string; readonly partitions: number },
    encoder: BatchEncoder,
    timestampMs: number,
  ): Promise<void> {
    if (this.#log === topic.log) return;
    this.#log = topic.log;
    const parts = new Map<number, OutgoingPart>();
    for (const [position, record] of this.records.entries()) {
      const partition = partitionOf(record.key, topic.partitions);
      let part = parts.get(partition);
      if (!part) {
        part = new OutgoingPart(partition);
        parts.set(partition, part);
      }
      part.add(position);
    }
    for (const part of parts.values()) await part.encode(this.records, encoder, timestampMs);
    this.#parts = [...parts.values()];
  }

  get pending(): OutgoingPart[] {
    return this.#parts.filter((part) => part.next !== undefined);
  }

  /** Whether something was sent of which nobody knows whether it is on the bus. */
  get inDoubt(): boolean {
    return this.pending.some((part) => part.next?.stamp !== undefined);
  }

  places(): Appended[] {
    const places: Appended[] = new Array(this.records.length);
    for (const part of this.#parts) part.place(places);
    return places;
  }

  /** Whether this operation's records are the first of the given ones. */
  begins(records: readonly BusRecord[]): boolean {
    return (
      this.records.length <= records.length &&
      this.records.every((own, i) => {
        const other = records[i];
        return other !== undefined && own.key === other.key && Buffer.compare(own.value, other.value) === 0;
      })
    );
  }
}
