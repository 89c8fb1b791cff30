import type { BusRecord, RecordPosition } from '../bus.js';
import { partitionOf } from '../key-hash.js';
import type { BatchEncoder, ProducerStamp } from './records/encode.js';

/** Fits into Kafka's default max.message.bytes (1 MiB). */
export const MAX_BATCH_BYTES = 1_000_000;

/** One record batch to send. Once it was sent with a producer ID and sequence, a retry uses the same ones. */
export interface OutgoingBatch {
  readonly bytes: Buffer;
  readonly count: number;
  stamp?: ProducerStamp | undefined;
}

/** The records of one append that go to one partition, as batches that are sent one after the other. */
export class OutgoingPart {
  /** Indexes of its records in the append. */
  readonly #indexes: number[] = [];
  readonly #offsets: number[] = [];
  batches: readonly OutgoingBatch[] = [];

  constructor(readonly partition: number) {}

  add(index: number): void {
    this.#indexes.push(index);
  }

  get next(): OutgoingBatch | undefined {
    return this.batches[this.#offsets.length];
  }

  /** The broker stored the next batch at this offset. */
  acknowledge(offset: number): void {
    this.#offsets.push(offset);
  }

  async encode(records: readonly BusRecord[], encoder: BatchEncoder, timestampMs: number): Promise<void> {
    const own = this.#indexes.map((index) => records[index] as BusRecord);
    const batches: OutgoingBatch[] = [];
    for (const part of encoder.split(own, MAX_BATCH_BYTES)) {
      batches.push({ bytes: await encoder.encode(part, timestampMs), count: part.length });
    }
    this.batches = batches;
  }

  fillPositions(positions: RecordPosition[]): void {
    let record = 0;
    for (const [i, batch] of this.batches.entries()) {
      const first = this.#offsets[i] ?? -1;
      for (let k = 0; k < batch.count; k++, record++) {
        positions[this.#indexes[record] as number] = { partition: this.partition, offset: first + k };
      }
    }
  }
}

/** One call of `append`: its acknowledged records, and those that are still to be sent. */
export class AppendOperation {
  #parts: readonly OutgoingPart[] = [];
  #log: string | undefined;

  constructor(readonly records: readonly BusRecord[]) {}

  /**
   * Divides the records among the topic's partitions and encodes them: once, and again when the topic was deleted and
   * created again, since its former records are gone.
   */
  async prepare(
    topic: { readonly log: string; readonly partitions: number },
    encoder: BatchEncoder,
    timestampMs: number,
  ): Promise<void> {
    if (this.#log === topic.log) return;
    this.#log = topic.log;
    const parts = new Map<number, OutgoingPart>();
    for (const [index, record] of this.records.entries()) {
      const partition = partitionOf(record.key, topic.partitions);
      let part = parts.get(partition);
      if (!part) {
        part = new OutgoingPart(partition);
        parts.set(partition, part);
      }
      part.add(index);
    }
    for (const part of parts.values()) await part.encode(this.records, encoder, timestampMs);
    this.#parts = [...parts.values()];
  }

  get pending(): OutgoingPart[] {
    return this.#parts.filter((part) => part.next !== undefined);
  }

  /** Whether a batch was sent and it is unknown whether the broker stored it. */
  get inDoubt(): boolean {
    return this.pending.some((part) => part.next?.stamp !== undefined);
  }

  positions(): RecordPosition[] {
    const positions: RecordPosition[] = new Array(this.records.length);
    for (const part of this.#parts) part.fillPositions(positions);
    return positions;
  }

  /** Whether the given records begin with this operation's records. */
  isPrefixOf(records: readonly BusRecord[]): boolean {
    return (
      this.records.length <= records.length &&
      this.records.every((own, i) => {
        const other = records[i];
        return other !== undefined && own.key === other.key && Buffer.compare(own.value, other.value) === 0;
      })
    );
  }
}
