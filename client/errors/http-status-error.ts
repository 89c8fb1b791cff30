import { ChanceryError } from '../../core/index.js';
import type { RestError } from '../decode/rest-error.js';

/** The exchange answered with a status that is no success (parts 7.1 and 7.2). */
export class HttpStatusError extends ChanceryError {
  /** True for 429 and 5xx. */
  readonly retryable: boolean;

  /** @param what what was being done, to what */
  constructor(
    what: string,
    readonly status: number,
    /** The error body, when there was one in the form of the interface. */
    readonly error: RestError | undefined,
    /** How long the exchange asked to wait (Retry-After), milliseconds. */
    readonly retryAfterMs: number | undefined,
  ) {
    const said = error?.message ?? error?.error;
    super(`${what}: the exchange answered ${status}${said ? ` (${said.slice(0, 300)})` : ''}; ${adviceFor(status)}`);
    this.retryable = status === 429 || status >= 500;
  }
}

function adviceFor(status: number): string {
  if (status === 429) return 'ask less often';
  if (status >= 500) return 'try again later';
  if (status === 401) return 'check the key or token, whether it was revoked or has expired, and the clock';
  if (status === 403) return 'the credentials do not allow it: the key may be blocked, or a JWT is wanted';
  if (status === 404) return 'check the IDs, and that the address is that of the exchange';
  if (status >= 400) return 'check the parameters';
  return 'check the address';
}
