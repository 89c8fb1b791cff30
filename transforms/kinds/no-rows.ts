import type { ValidationIssue } from '../../client/index.js';
import type { RecordOutput } from '../record/record-output.js';
import type { Received } from './transform.js';

/** A stream message that becomes no rows: an error of the exchange, or one that is not understood. */
type MessageWithoutRows =
  | { readonly type: 'error' }
  | { readonly type: 'unknown'; readonly wireType: string }
  | (ValidationIssue & { readonly type: 'invalid' });

/** Counts an error of the exchange; a frame that is not understood becomes a dead letter. */
export function addWithoutRows(message: MessageWithoutRows, received: Received, output: RecordOutput): void {
  if (message.type === 'error') {
    output.countExchangeError();
    return;
  }
  const fault =
    message.type === 'invalid' ? message : { path: 't', reason: `unknown message type ${message.wireType}` };
  output.dead(fault, received.bodyText());
}
