import { STATUS_CODES } from 'node:http';
import { ChanceryError } from '../../core/index.js';

/** A request that is answered with an error: the status and the message of the body `{status, error, message}`. */
export class HttpError extends ChanceryError {
  readonly retryable = false;

  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** The error body of part 7.1. */
  body(): { status: number; error: string; message: string } {
    return { status: this.status, error: STATUS_CODES[this.status] ?? 'Error', message: this.message };
  }
}

/** A stream message that cannot be acted on: its text goes to the sender in `r`, and the connection stays open. */
export class StreamRequestError extends ChanceryError {
  readonly retryable = false;
}
