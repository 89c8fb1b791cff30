import { ChanceryError, describeError } from '../../core/index.js';

/**
 * The cause of a `TransportError`: no connection, a TLS handshake that failed (`certificate`: because the certificate is
 * not trusted), no response in time, a response that broke off, exceeds the maximum size, or is not JSON.
 */
export type TransportErrorCode =
  | 'connection'
  | 'certificate'
  | 'tls'
  | 'timeout'
  | 'broken-off'
  | 'too-large'
  | 'not-json';

const DESCRIPTIONS: Record<TransportErrorCode, string> = {
  connection: 'could not be reached; check its address and that it runs',
  certificate:
    'has a certificate that is not trusted; check the address, or set NODE_EXTRA_CA_CERTS to the file of its authority',
  tls: 'could not be reached by TLS; check whether its address begins with http or https',
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

/** Error codes with which Node refuses a certificate (`tls` and OpenSSL's `X509_V_ERR_*`). */
const REFUSED_CERTIFICATE = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|ERR_TLS_CERT_|HOSTNAME_MISMATCH)/;

/** The code for an error that ended an attempt to connect. */
export function connectionErrorCode(error: unknown): 'connection' | 'certificate' | 'tls' {
  const code = String((error as NodeJS.ErrnoException | undefined)?.code);
  if (REFUSED_CERTIFICATE.test(code)) return 'certificate';
  return code === 'EPROTO' || code.startsWith('ERR_SSL_') ? 'tls' : 'connection';
}
