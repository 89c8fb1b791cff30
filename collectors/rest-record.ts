import type { RawResponse } from '../client/index.js';
import { encodeBody, type RecordKind, type RestRequest } from '../core/index.js';
import type { Received } from './publisher.js';

/** An answer of a poll as it goes to the bus: verbatim, whatever its status. */
export function restRecord(kind: RecordKind, key: string, poll: string, response: RawResponse): Received {
  const req: RestRequest = { ...response.request, poll };
  const { bodyJson, enc } = encodeBody(response.bytes);
  return { kind, key, at: response.receivedAtMicros, reqJson: JSON.stringify(req), bodyJson, enc };
}
