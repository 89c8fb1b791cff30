import { IntegrityError, UnavailableError, UsageError } from '../core/index.js';

/** The topic does not exist: `ensureTopic` was never called for it on this bus. */
export class UnknownTopicError extends UsageError {
  constructor(
    readonly topic: string,
    where: string,
  ) {
    super(`topic ${topic} does not exist on ${where}; create it first (every Chancery process that appends does so)`);
  }
}

/** A record is larger than the bus accepts; nothing of the append was stored. */
export class RecordTooLargeError extends UsageError {
  constructor(
    readonly topic: string,
    readonly bytes: number,
    readonly maxBytes: number,
  ) {
    super(`a record of ${bytes} bytes for ${topic} exceeds the limit of the bus (${maxBytes}); send it in pieces`);
  }
}

/** Requested records were deleted by retention before they were read. */
export class OffsetGoneError extends IntegrityError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly offset: number,
    readonly begin: number,
  ) {
    super(
      `offset ${offset} of ${topic}/${partition} was deleted by retention; the first available offset is ${begin}; ` +
        'start with --accept-loss to continue from there and record the gap',
    );
  }
}

/** An offset beyond the end of the partition was requested. */
export class OffsetBeyondEndError extends IntegrityError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly offset: number,
    readonly end: number,
  ) {
    super(
      `offset ${offset} of ${topic}/${partition} is beyond its end offset ${end}: the log is older than the offsets ` +
        'committed for it (was it restored from a backup?); move the log away and start with --accept-loss',
    );
  }
}

/** The partition was assigned to another consumer of the group; work in progress on it must be abandoned. */
export class PartitionLostError extends UnavailableError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly group: string,
    why = `now belongs to another consumer of group ${group}`,
  ) {
    super(`${topic}/${partition} ${why}`);
  }
}

/** The topic was deleted, and possibly created again: work in progress on its former log must be abandoned. */
export class LogReplacedError extends PartitionLostError {
  constructor(
    topic: string,
    partition: number,
    readonly log: string,
    group = '',
  ) {
    super(topic, partition, group, `was deleted with its topic: the records of its log ${log} are gone`);
  }
}

/** The bus cannot store records now: its disk or its memory map is full, or a write failed. */
export class BusWriteError extends UnavailableError {}

/** The bus was closed by its owner. */
export class BusClosedError extends UsageError {
  constructor() {
    super('the bus is closed');
  }
}

/** Records cannot be decoded: an unsupported compression, a corrupt batch, missing offsets. */
export class UnreadableRecordsError extends IntegrityError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly offset: number,
    /** The first offset after the unreadable records. */
    readonly next: number,
    why: string,
  ) {
    super(
      `records from offset ${offset} to ${next - 1} of ${topic}/${partition} cannot be read: ${why}; ` +
        'start with --accept-loss to skip them and record the gap',
    );
  }
}

/** The partition has records, and none was received for too long. */
export class StalledError extends UnavailableError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    lag: number,
    stallMs: number,
  ) {
    super(
      `no record of ${topic}/${partition} was received for ${Math.round(stallMs / 1000)} s, although ${lag} are available; ` +
        'the consumer stops so that another one can take over',
    );
  }
}
