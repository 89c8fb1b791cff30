/**
 * Base of every error that Chancery throws deliberately. The message says what failed, on what, and what the reader can
 * do; `cause` holds the original. Retries are decided by `retryable`, never by text.
 */
export abstract class ChanceryError extends Error {
  abstract readonly retryable: boolean;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Wrong usage or configuration: an invalid flag, a taken port, an unreadable folder. Exit code 2. */
export class UsageError extends ChanceryError {
  readonly retryable = false;
}

/** An external service did not respond or is not running yet; retrying may help. */
export class UnavailableError extends ChanceryError {
  readonly retryable = true;
}

/** Continuing would break a guarantee of Chancery; the part stops and says what an operator can do. Exit code 3. */
export class IntegrityError extends ChanceryError {
  readonly retryable = false;
}

/** Whether the error declares itself retryable. */
export function isRetryable(error: unknown): boolean {
  return error instanceof ChanceryError && error.retryable;
}

/** Whether the error declares that a retry cannot help. Errors that declare nothing are not permanent. */
export function isPermanent(error: unknown): boolean {
  return error instanceof ChanceryError && !error.retryable;
}

/** A one-line description of any thrown value, with its chain of causes. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let e: unknown = error; e !== undefined && e !== null && parts.length < 5; ) {
    const text = e instanceof Error ? e.message || ((e as NodeJS.ErrnoException).code ?? e.name) : String(e);
    if (text && !parts.some((p) => p.includes(text))) parts.push(text);
    e = e instanceof Error ? e.cause : undefined;
  }
  return parts.join(': ').replace(/\s*\n\s*/g, ' ');
}
