import { ChanceryError } from '../../core/index.js';

/** The exchange refused a request on a stream (part 7.3). */
export class StreamError extends ChanceryError {
  readonly retryable = false;

  constructor(
    /** Request and URL. */
    readonly operation: string,
    /** The exchange's error text. */
    readonly reason: string,
    /** What the caller can do. */
    advice = 'check the IDs and the range',
  ) {
    super(`${operation}: the exchange refused it (${reason.slice(0, 300) || 'without a reason'}); ${advice}`);
  }
}
