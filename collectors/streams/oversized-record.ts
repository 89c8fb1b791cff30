import { isUtf8 } from 'node:buffer';
import type { DisconnectedEvent } from '../../client/index.js';
import type { StreamRequest } from '../../core/index.js';
import type { ReceivedRecord } from '../publisher.js';

type OversizedFrame = NonNullable<DisconnectedEvent['oversized']>;

/** Maximum number of bytes of a UTF-8 character that may be missing at the end of a text. */
const MAX_CUT_BYTES = 3;

/** The record of a frame above the maximum size, with its first bytes; it becomes a dead letter. */
export function oversizedRecord(
  { declaredBytes, firstBytes, receivedAtMicros }: OversizedFrame,
  request: StreamRequest,
): Omit<ReceivedRecord, 'kind' | 'key'> {
  const requestJson = JSON.stringify({ ...request, oversized: { declaredBytes } } satisfies StreamRequest);
  return { receivedAt: receivedAtMicros, requestJson, ...encodePrefix(firstBytes) };
}

/** As text, without the incomplete character at its end, or else as base64: a prefix is never a JSON body. */
function encodePrefix(bytes: Buffer): Pick<ReceivedRecord, 'bodyJson' | 'encoding'> {
  for (let cut = 0; cut <= Math.min(MAX_CUT_BYTES, bytes.length); cut++) {
    const text = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(text)) {
      return { bodyJson: JSON.stringify(text.toString('utf8')), encoding: 'text' };
    }
  }
  return { bodyJson: JSON.stringify(bytes.toString('base64')), encoding: 'base64' };
}
