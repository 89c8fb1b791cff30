import { ChanceryError } from '../../core/index.js';
import type { RestError } from '../decode/rest-error.js';

/** The exchange responded with a status other than 2xx (parts 7.1 and 7.2). */
export class HttpStatusError extends ChanceryError {
  /** True for 429 and 5xx. */
  readonly retryable: boolean;

  /** @param operation operation, method and URL */
  constructor(
    operation: string,
    readonly status: number,
    /** The decoded error body, when it has the form of the interface. */
    readonly error: RestError | undefined,
    /** The delay that the exchange requires (Retry-After), milliseconds. */
    readonly retryAfterMs: number | undefined,
  ) {
    const reason = error?.message ?? error?.error;
    super(
      `${operation}: the exchange answered ${status}${reason ? ` (${reason.slice(0, 300)})` : ''}; ${adviceFor(status)}`,
    );
    this.retryable = status === 429 || status >= 500;
  }
}

function adviceFor(status: number): string {
  if (status === 429) return 'send fewer requests';
  if (status >= 500) return 'retry later';
  if (status === 401) return 'check the key or token, whether it was revoked or has expired, and the clock';
  if (status === 403) return 'the credentials do not allow it: the key may be blocked, or a JWT is required';
  if (status === 404) return 'check the IDs, and that the address is that of the exchange';
  if (status >= 400) return 'check the parameters';
  return 'check the address';
}
