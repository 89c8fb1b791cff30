import type { RestRequest } from '../../core/index.js';
import type { HttpResponse, TruncationCause } from '../http.js';
import type { OperationRequest } from './operation.js';

/** A response as received: everything that a raw record needs, without secrets. */
export interface RawResponse {
  readonly status: number;
  /** `content-type`, `content-length`, `date` and `retry-after`, if present. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the last byte was received, Unix microseconds. */
  readonly receivedAtMicros: number;
  /** The body, byte for byte, except that our credentials are replaced by `[redacted]`, should the exchange repeat them. */
  readonly bytes: Buffer;
  /** Why `bytes` is incomplete; absent when it is complete. A truncated response is not decoded, whatever its status. */
  readonly truncated?: TruncationCause;
  /** The request, as in raw records; the caller adds the ID of the poll. */
  readonly request: Omit<RestRequest, 'poll'>;
}

const RECORDED_HEADERS = ['content-type', 'content-length', 'date', 'retry-after'] as const;

/** Makes a `RawResponse`. It never contains the request's headers, which hold the credentials. */
export function describeResponse(
  operation: { readonly name: string; readonly method: 'GET' | 'POST' },
  sent: OperationRequest,
  received: HttpResponse,
  attempt: number,
): RawResponse {
  const headers: Record<string, string> = {};
  for (const name of RECORDED_HEADERS) {
    const value = received.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const { status, receivedAtMicros, bytes, truncated } = received;
  const request = {
    operation: operation.name,
    method: operation.method,
    path: sent.path,
    ...(sent.query === undefined ? {} : { query: sent.query }),
    ...(sent.body === undefined ? {} : { body: sent.body }),
    status,
    attempt,
    ...(truncated === undefined ? {} : { cut: truncated }),
    ...sent.about,
  };
  return { status, headers, receivedAtMicros, bytes, ...(truncated === undefined ? {} : { truncated }), request };
}
