import { ChanceryError } from '../../core/index.js';

/** An answer that is JSON but not what the interface describes. Asking again would bring the same. */
export class SchemaError extends ChanceryError {
  readonly retryable = false;

  constructor(
    /** What was being done, to what. */
    readonly operation: string,
    /** Where in the body, like `content[3].id`; empty for the body itself. */
    readonly path: string,
    readonly reason: string,
  ) {
    super(`${operation}: the answer${path ? ` at ${path}` : ''} is not as the interface describes: ${reason}`);
  }
}
