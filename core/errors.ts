/**
 * Base of every error that Chancery raises on purpose. The message says what was being done, to what, and what the
 * reader can do about it; `cause` keeps the original. Whether to try again is decided by `retryable`, never by text.
 */
export abstract class ChanceryError extends Error {
  abstract readonly retryable: boolean;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The user asked for something that cannot be: a wrong flag, a taken port, an unreadable folder. Exit code 2. */
export class UsageError extends ChanceryError {
  readonly retryable = false;
}

/** Something outside did not answer or is not there yet; waiting and trying again may help. */
export class UnavailableError extends ChanceryError {
  readonly retryable = true;
}

/** A promise Chancery makes would be broken by going on; the part stops and says which words to type. */
export class IntegrityError extends ChanceryError {
  readonly retryable = false;
}

/** True for errors that say of themselves that trying again may help. */
export function isRetryable(error: unknown): boolean {
  return error instanceof ChanceryError && error.retryable;
}

/** The one-line text of anything thrown, with its chain of causes. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let e: unknown = error; e !== undefined && e !== null && parts.length < 5; ) {
    const text = e instanceof Error ? e.message || ((e as NodeJS.ErrnoException).code ?? e.name) : String(e);
    if (text && !parts.some((p) => p.includes(text))) parts.push(text);
    e = e instanceof Error ? e.cause : undefined;
  }
  return parts.join(': ').replace(/\s*\n\s*/g, ' ');
}
