import { ChanceryError } from '../../core/index.js';

/** A response that is JSON but does not match the interface. Retrying would not help. */
export class SchemaError extends ChanceryError {
  readonly retryable = false;

  constructor(
    /** Operation, method and path. */
    readonly operation: string,
    /** Position in the body, like `content[3].id`; empty for the body itself. */
    readonly path: string,
    readonly reason: string,
  ) {
    super(`${operation}: the response${path ? ` at ${path}` : ''} does not match the interface: ${reason}`);
  }
}
