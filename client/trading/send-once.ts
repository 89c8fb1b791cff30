import { HttpStatusError, OutcomeUnknownError, TransportError } from '../errors/index.js';

/**
 * Runs a request that must not be sent twice. A failure that leaves open whether the exchange carried it out becomes an
 * `OutcomeUnknownError`; a refusal (4xx), or that there was no connection to send it on, stays what it is.
 * @param look how to find out whether it was carried out
 */
export async function sendOnce<T>(what: string, look: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const open =
      (error instanceof TransportError && !error.unsent) || (error instanceof HttpStatusError && error.status >= 500);
    throw open ? new OutcomeUnknownError(what, look, error) : error;
  }
}
