import { HttpStatusError, OutcomeUnknownError, TransportError } from '../errors/index.js';

/**
 * Sends a request that must not be sent twice. A failure after which it may have taken effect becomes an
 * `OutcomeUnknownError`; a refusal (4xx) or a failed connection attempt is thrown as it is.
 * @param howToCheck how to find out whether the request took effect
 */
export async function sendOnce<T>(operation: string, howToCheck: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const isUnknown =
      (error instanceof TransportError && !error.unsent) || (error instanceof HttpStatusError && error.status >= 500);
    throw isUnknown ? new OutcomeUnknownError(operation, howToCheck, error) : error;
  }
}
