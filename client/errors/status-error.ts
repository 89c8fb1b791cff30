import type { RestError } from '../decode/rest-error.js';
import { ForbiddenError, UnauthorizedError } from './access-errors.js';
import { HttpStatusError } from './http-status-error.js';

const CLASSES: Readonly<Record<number, typeof HttpStatusError>> = { 401: UnauthorizedError, 403: ForbiddenError };

/** The error for a status other than 2xx. */
export function statusError(
  operation: string,
  status: number,
  error: RestError | undefined,
  retryAfterMs: number | undefined,
): HttpStatusError {
  return new (CLASSES[status] ?? HttpStatusError)(operation, status, error, retryAfterMs);
}
