import type { RawResponse } from '../../client/index.js';
import { encodeBody, type RecordKind, type RestRequest } from '../../core/index.js';
import type { Received } from '../publisher.js';

/** What the asker knows of a request: which poll it belongs to, and for which account. */
export interface Asker {
  readonly poll: string;
  readonly account?: string | undefined;
}

/** An answer of a poll as it goes to the bus: verbatim, whatever its status, and also what came of one that was cut. */
export function restRecord(kind: RecordKind, key: string, asker: Asker, response: RawResponse): Received {
  const { poll, account } = asker;
  const req: RestRequest = { ...response.request, poll, ...(account === undefined ? {} : { account }) };
  const { bodyJson, enc } = encodeBody(response.bytes);
  return { kind, key, at: response.receivedAtMicros, reqJson: JSON.stringify(req), bodyJson, enc };
}
