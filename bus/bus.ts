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
  /** Holds all values, in order, and whatever else came with them. */
  readonly bytes: Buffer;
  /** `2 * count` positions in `bytes`: the i-th value is `bytes[bounds[2 * i] .. bounds[2 * i + 1])`. */
  readonly bounds: Uint32Array;
}

/** Where a record landed. */
export interface Appended {
  readonly partition: number;
  readonly offset: number;
}

export interface Committed {
  /** The next offset to process; 0 (or the first kept offset) before the first commit. */
  readonly offset: number;
  /** Text that was committed with the offset: the writer's intent. */
  readonly intent?: string;
}

/** A partition while it is assigned to this consumer. */
export interface Partition {
  readonly topic: string;
  readonly partition: number;
  /** Identity of the topic's log (Kafka topic ID, embedded log UUID): a wiped or recreated topic has another. */
  readonly log: string;
  committed(): Promise<Committed>;
  /** Durable when it resolves. Throws `PartitionLostError` when another consumer owns the partition by now. */
  commit(offset: number, intent?: string): Promise<void>;
  /** Throws `PartitionLostError` unless the partition is still ours at this moment. */
  assertOwned(): Promise<void>;
  /**
   * For so long from a call of `assertOwned` that resolves, the partition becomes nobody else's unless we let go of it,
   * whatever happens to us, milliseconds. Infinity where only the end of its process takes a partition from its owner.
   */
  readonly heldForMs: number;
  /** Reads exactly [start, end] again, in batches. Throws `OffsetGoneError` when retention overtook part of it. */
  read(start: number, end: number): AsyncIterable<RecordBatch>;
}

/** What a consumer does with its partitions. Callbacks of one partition never overlap; different partitions may. */
export interface ConsumerHandler {
  /** Called before the first batch of an assignment; answers the offset to start from. */
  onAssigned(partition: Partition): Promise<number>;
  /**
   * Called with consecutive records; the next call waits until this one resolves. The batch is the handler's until then:
   * its memory may be used again afterwards.
   * @param behind how many records of the partition wait on the bus after these, as far as is known
   */
  onBatch(partition: Partition, batch: RecordBatch, behind: number): Promise<void>;
  /** Called after the last batch of an assignment, on revocation and on stop: finish or abandon what is under way. */
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
  /** First kept offset. */
  readonly begin: number;
  /** Offset that the next record will get. */
  readonly end: number;
}

export interface TopicOptions {
  readonly partitions: number;
  /** Records older than this may be deleted, milliseconds; null keeps them. */
  readonly retentionMs: number | null;
  /** The oldest records may be deleted when a partition is larger than this, bytes; null keeps them. */
  readonly retentionBytes: number | null;
}

/** Topics of ordered, durable records: Kafka, or the embedded log. Both pass `test/bus/contract.ts`. */
export interface Bus {
  /** The largest record value it takes, bytes. */
  readonly maxRecordBytes: number;
  /** Creates the topic when it is not there; never changes the number of partitions of one that is. */
  ensureTopic(topic: string, options: TopicOptions): Promise<void>;
  /**
   * Appends in the order given; resolves with a place per record once all are durable. After a rejected append the
   * caller sends the same records again, in the same order, before any others.
   */
  append(topic: string, records: readonly BusRecord[], signal?: AbortSignal): Promise<Appended[]>;
  /** Runs until the signal is aborted (then resolves) or something fails (then rejects). */
  consume(options: ConsumeOptions, handler: ConsumerHandler, signal: AbortSignal): Promise<void>;
  /** All partitions of all topics with their extent: for lag and for reading without a group. */
  partitions(): Promise<PartitionInfo[]>;
  /** The committed state of a group, per partition that has one, without being a member. */
  committed(group: string): Promise<(Committed & { topic: string; partition: number })[]>;
  /** Reads [start, end] of a partition without a group. */
  read(topic: string, partition: number, start: number, end: number): AsyncIterable<RecordBatch>;
  close(): Promise<void>;
}
