import { ChanceryError, describeError } from '../../core/index.js';

/**
 * The cause of a `TransportError`: no connection, no response in time, a response that broke off, exceeds the maximum
 * size, or is not JSON.
 */
export type TransportErrorCode = 'connection' | 'timeout' | 'broken-off' | 'too-large' | 'not-json';

const DESCRIPTIONS: Record<TransportErrorCode, string> = {
  connection: 'could not be reached; check its address and that it runs',
  timeout: 'did not respond in time; try again, or increase the timeout',
  'broken-off': 'broke off its response; try again',
  'too-large': 'sent more than the maximum size; request less, or increase the limit',
  'not-json': 'sent a response that is not JSON; check that the address is that of the exchange',
};

/** No usable response was received. Retryable, except for a response that would be too large again. */
export class TransportError extends ChanceryError {
  readonly retryable: boolean;
  /** True when no part of the request was sent, because there was no connection. */
  readonly unsent: boolean;

  /** @param operation operation, method and URL, like `event-search POST https://host/api/events/search` */
  constructor(
    readonly code: TransportErrorCode,
    operation: string,
    options: { cause?: unknown; detail?: string; unsent?: boolean } = {},
  ) {
    const detail = options.detail ?? (options.cause === undefined ? '' : describeError(options.cause));
    super(`${operation}: the exchange ${DESCRIPTIONS[code]}${detail ? ` (${detail})` : ''}`, { cause: options.cause });
    this.retryable = code !== 'too-large';
    this.unsent = options.unsent ?? false;
  }
}
