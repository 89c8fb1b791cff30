import { STATUS_CODES } from 'node:http';
import { ChanceryError } from '../../core/index.js';

/** An error response to a request: status, and message of the body `{status, error, message}`. */
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

/** A stream message that is rejected: the sender gets the text in `r`, and the connection stays open. */
export class StreamRequestError extends ChanceryError {
  readonly retryable = false;
}
