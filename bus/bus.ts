/** One record to append. Records of one key stay in order on one partition. */
export interface BusRecord {
  readonly key: string;
  readonly value: Uint8Array;
}

/** Consecutive records of one partition, without an object per record. */
export interface RecordBatch {
  /** Offset of the first record; the i-th has `firstOffset + i`. */
  readonly firstOffset: number;
  readonly count: number;
  /** Contains all values in order, and possibly other bytes between them. */
  readonly bytes: Buffer;
  /** `2 * count` positions in `bytes`: the i-th value is `bytes[bounds[2 * i] .. bounds[2 * i + 1])`. */
  readonly bounds: Uint32Array;
}

/** Partition and offset of a stored record. */
export interface RecordPosition {
  readonly partition: number;
  readonly offset: number;
}

export interface Committed {
  /** The next offset to process; before the first commit the partition's first available offset. */
  readonly offset: number;
  /** Metadata committed with the offset: the writer's intent, and its checkpoint. */
  readonly intent?: string;
  readonly checkpoint?: string;
}

/** A partition while it is assigned to this consumer. */
export interface Partition {
  readonly topic: string;
  readonly partition: number;
  /** The topic ID (of Kafka, or a UUID of the embedded log): a topic that is deleted and created again has another. */
  readonly log: string;
  committed(): Promise<Committed>;
  /**
   * Durable when it resolves: offset and metadata, or neither. The checkpoint must not contain a semicolon.
   * Throws `PartitionLostError` when the partition belongs to another consumer.
   */
  commit(offset: number, intent?: string, checkpoint?: string): Promise<void>;
  /** Throws `PartitionLostError` unless this consumer still owns the partition. */
  assertOwned(): Promise<void>;
  /**
   * Time after the call of a successful `assertOwned` in which no other consumer is assigned the partition, unless this one
   * releases it, milliseconds. Infinity where an owner loses a partition only when its process ends.
   */
  readonly heldForMs: number;
  /** Reads exactly [start, end] again, in batches. Throws `OffsetGoneError` when retention has deleted a part of it. */
  read(start: number, end: number): AsyncIterable<RecordBatch>;
}

/** The callbacks of a consumer. Those of one partition never overlap; those of different partitions may. */
export interface ConsumerHandler {
  /** Called before the first batch of an assignment; returns the offset to start from. */
  onAssigned(partition: Partition): Promise<number>;
  /**
   * Called with consecutive records; the next call waits until this one resolves. The batch is valid until then; its
   * memory is reused afterwards.
   * @param lag records of the partition after these, as far as known
   */
  onBatch(partition: Partition, batch: RecordBatch, lag: number): Promise<void>;
  /** Called after the last batch of an assignment, on revocation and on stop: finish or abandon work in progress. */
  onRevoked(partition: Partition): Promise<void>;
}

export interface ConsumeOptions {
  readonly topics: readonly string[];
  readonly group: string;
  /** Upper bound of one batch handed to `onBatch`, in bytes of values. */
  readonly maxBatchBytes?: number;
}

export interface PartitionInfo {
  readonly topic: string;
  readonly partition: number;
  readonly log: string;
  /** First available offset (Kafka's log start offset). */
  readonly begin: number;
  /** Offset of the next record to be appended (Kafka's log end offset). */
  readonly end: number;
}

export interface TopicOptions {
  readonly partitions: number;
  /** Records older than this may be deleted, milliseconds; null: no limit. */
  readonly retentionMs: number | null;
  /** The oldest records of a partition larger than this may be deleted, bytes; null: no limit. */
  readonly retentionBytes: number | null;
}

/** Topics of ordered, durable records: Kafka, or the embedded log. Both pass `test/bus/contract.ts`. */
export interface Bus {
  /** Largest record value that it accepts, bytes. */
  readonly maxRecordBytes: number;
  /** Creates the topic unless it exists; never changes the number of partitions of an existing one. */
  ensureTopic(topic: string, options: TopicOptions): Promise<void>;
  /**
   * Appends in the given order; resolves with the position of each record when all are durable. After a rejected append
   * the caller appends the same records again, in the same order, before any others.
   */
  append(topic: string, records: readonly BusRecord[], signal?: AbortSignal): Promise<RecordPosition[]>;
  /** Resolves when the signal is aborted; rejects with the first failure. */
  consume(options: ConsumeOptions, handler: ConsumerHandler, signal: AbortSignal): Promise<void>;
  /** All partitions of all topics with their first and end offsets: for lag and for reading without a group. */
  partitions(): Promise<PartitionInfo[]>;
  /** The committed offsets of a group, per partition that has one; the caller need not be a member. */
  committed(group: string): Promise<(Committed & { topic: string; partition: number })[]>;
  /** Reads [start, end] of a partition without a group. */
  read(topic: string, partition: number, start: number, end: number): AsyncIterable<RecordBatch>;
  close(): Promise<void>;
}
