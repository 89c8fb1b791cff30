import { ChanceryError, describeError } from '../../core/index.js';

/**
 * A request that changes something was sent, and no usable response was received: it may or may not have taken effect.
 * It is not retried, because it could take effect twice, and `retryable` is false.
 */
export class OutcomeUnknownError extends ChanceryError {
  readonly retryable = false;

  constructor(
    /** Operation, method and path. */
    readonly operation: string,
    /** How to find out whether it took effect. */
    readonly howToCheck: string,
    cause: unknown,
  ) {
    super(
      `${operation}: it may or may not have taken effect (${describeError(cause)}); ${howToCheck} before trying again`,
      {
        cause,
      },
    );
  }
}
