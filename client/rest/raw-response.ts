import type { RestRequest } from '../../core/index.js';
import type { HttpResponse, TruncationCause } from '../http.js';
import type { OperationRequest } from './operation.js';

/** What is known of an answer as it arrived: enough for a raw record, and without secrets. */
export interface RawResponse {
  readonly status: number;
  /** `content-type`, `content-length`, `date` and `retry-after`, where they came. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the last byte had arrived, Unix microseconds. */
  readonly receivedAtMicros: number;
  /** The body, byte for byte; with `[redacted]` for our own credentials, should the exchange repeat them. */
  readonly bytes: Buffer;
  /** Why `bytes` is not the whole body; absent when it is. A cut answer is never read, whatever its status. */
  readonly truncated?: TruncationCause;
  /** What was asked, as raw records say it; the poll it belongs to is the asker's to add. */
  readonly request: Omit<RestRequest, 'poll'>;
}

const KEPT_HEADERS = ['content-type', 'content-length', 'date', 'retry-after'] as const;

/** An answer as `RawResponse`. The request's headers, where credentials are, never are part of it. */
export function describeResponse(
  operation: { readonly name: string; readonly method: 'GET' | 'POST' },
  call: OperationRequest,
  answer: HttpResponse,
  attempt: number,
): RawResponse {
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = answer.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const { status, receivedAtMicros, bytes, truncated } = answer;
  const request = {
    operation: operation.name,
    method: operation.method,
    path: call.path,
    ...(call.query === undefined ? {} : { query: call.query }),
    ...(call.body === undefined ? {} : { body: call.body }),
    status,
    attempt,
    ...(truncated === undefined ? {} : { cut: truncated }),
    ...call.about,
  };
  return { status, headers, receivedAtMicros, bytes, ...(truncated === undefined ? {} : { truncated }), request };
}
