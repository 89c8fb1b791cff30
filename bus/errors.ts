import { IntegrityError, UnavailableError, UsageError } from '../core/index.js';

/** The topic is not there: `ensureTopic` was never called for it on this bus. */
export class UnknownTopicError extends UsageError {
  constructor(
    readonly topic: string,
    where: string,
  ) {
    super(`topic ${topic} does not exist on ${where}; create it first (every Chancery part that writes does so)`);
  }
}

/** A record is larger than the bus takes; nothing of the append was stored. */
export class RecordTooLargeError extends UsageError {
  constructor(
    readonly topic: string,
    readonly bytes: number,
    readonly maxBytes: number,
  ) {
    super(`a record of ${bytes} bytes for ${topic} is larger than the bus takes (${maxBytes}); send it in pieces`);
  }
}

/** Records that were asked for are gone: retention overtook the reader. */
export class OffsetGoneError extends IntegrityError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly offset: number,
    readonly begin: number,
  ) {
    super(
      `offset ${offset} of ${topic}/${partition} is gone, the first kept one is ${begin}: retention overtook the reader; ` +
        'start with --accept-loss to go on from there and write the gap down',
    );
  }
}

/** An offset beyond the end of the partition was asked for. */
export class OffsetBeyondEndError extends IntegrityError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly offset: number,
    readonly end: number,
  ) {
    super(
      `offset ${offset} of ${topic}/${partition} is beyond its end ${end}: the log is older than what was read from it ` +
        '(restored from a copy?); move the log away and start with --accept-loss',
    );
  }
}

/** Another consumer of the group owns the partition by now; what was under way must not be finished. */
export class PartitionLostError extends UnavailableError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly group: string,
    why = `belongs to another consumer of group ${group} by now`,
  ) {
    super(`${topic}/${partition} ${why}`);
  }
}

/** The topic was deleted, and perhaps created again: what was under way for its former log is void. */
export class LogReplacedError extends PartitionLostError {
  constructor(
    topic: string,
    partition: number,
    readonly log: string,
    group = '',
  ) {
    super(
      topic,
      partition,
      group,
      `is not what it was: the topic was deleted, and the records of its log ${log} are gone`,
    );
  }
}

/** The bus cannot take or keep anything at the moment: its disk or its map is full, or a write failed. */
export class BusWriteError extends UnavailableError {}

/** The bus was closed by its owner. */
export class BusClosedError extends UsageError {
  constructor() {
    super('the bus is closed');
  }
}

/** Records are on the bus but cannot be read: an unknown compression, a damaged batch, offsets that are missing. */
export class UnreadableRecordsError extends IntegrityError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly offset: number,
    /** The first offset after what cannot be read. */
    readonly next: number,
    why: string,
  ) {
    super(
      `records from offset ${offset} to ${next - 1} of ${topic}/${partition} cannot be read: ${why}; ` +
        'start with --accept-loss to pass over them and write the gap down',
    );
  }
}

/** The bus has records, and none of them arrived for too long. */
export class StalledError extends UnavailableError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    behind: number,
    stallMs: number,
  ) {
    super(
      `no record of ${topic}/${partition} arrived for ${Math.round(stallMs / 1000)} s, although ${behind} are waiting; ` +
        'the consumer ends so that a new one can take over',
    );
  }
}
