import { ChanceryError } from '../../core/index.js';

/** The exchange refused what was asked on a stream (part 7.3). */
export class StreamError extends ChanceryError {
  readonly retryable = false;

  constructor(
    /** What was being done, to what. */
    readonly operation: string,
    /** The text that the exchange gave. */
    readonly reason: string,
    /** What the reader can do. */
    advice = 'check the IDs and the range',
  ) {
    super(`${operation}: the exchange refused it (${reason.slice(0, 300) || 'without a reason'}); ${advice}`);
  }
}
