import { ChanceryError, describeError } from '../../core/index.js';

/**
 * What went wrong between us and the exchange: no connection, no answer in time, an answer that broke off, one that is
 * larger than allowed, or one that is not the JSON it should be.
 */
export type TransportErrorCode = 'connection' | 'timeout' | 'broken-off' | 'too-large' | 'not-json';

const WORDS: Record<TransportErrorCode, string> = {
  connection: 'could not be reached; check its address and that it runs',
  timeout: 'did not answer in time; try again, or allow more time',
  'broken-off': 'broke off its answer; try again',
  'too-large': 'sent more than is accepted; ask for less, or allow larger bodies',
  'not-json': 'answered with something that is not JSON; check that the address is that of the exchange',
};

/** No usable answer came. Worth another try, except for an answer that would be too large again. */
export class TransportError extends ChanceryError {
  readonly retryable: boolean;
  /** It is known that no part of the request reached the exchange: there was no connection to send it on. */
  readonly unsent: boolean;

  /** @param what what was being done, to what, like `event-search POST https://host/api/events/search` */
  constructor(
    readonly code: TransportErrorCode,
    what: string,
    options: { cause?: unknown; detail?: string; unsent?: boolean } = {},
  ) {
    const detail = options.detail ?? (options.cause === undefined ? '' : describeError(options.cause));
    super(`${what}: the exchange ${WORDS[code]}${detail ? ` (${detail})` : ''}`, { cause: options.cause });
    this.retryable = code !== 'too-large';
    this.unsent = options.unsent ?? false;
  }
}
