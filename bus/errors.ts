import { IntegrityError, UnavailableError } from '../core/index.js';

/** Another consumer owns the partition by now; what is under way for it must be abandoned. */
export class PartitionLostError extends UnavailableError {
  constructor(topic: string, partition: number) {
    super(`partition ${partition} of ${topic} is owned by another consumer now`);
  }
}

/** Records that were not processed yet are gone from the bus. */
export class OffsetGoneError extends IntegrityError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    /** The offset that was wanted. */
    readonly wanted: number,
    /** The first offset that is still kept. */
    readonly begin: number,
  ) {
    super(
      `offsets ${wanted} to ${begin - 1} of ${topic}/${partition} are gone from the bus (retention overtook the worker); ` +
        'run `chancery transform --accept-loss` to record the gap and go on',
    );
  }
}
