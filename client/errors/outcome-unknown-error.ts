import { ChanceryError, describeError } from '../../core/index.js';

/**
 * A request that changes something was sent, and no usable answer came: it may or may not have been carried out.
 * Repeating it could carry it out twice, so nothing here does, and `retryable` is false.
 */
export class OutcomeUnknownError extends ChanceryError {
  readonly retryable = false;

  constructor(
    /** What was being done, to what. */
    readonly operation: string,
    /** How to find out whether it was carried out. */
    readonly howToCheck: string,
    cause: unknown,
  ) {
    super(
      `${operation}: it may or may not have been carried out (${describeError(cause)}); ${howToCheck} before trying again`,
      {
        cause,
      },
    );
  }
}
