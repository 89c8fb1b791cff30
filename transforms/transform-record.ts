import type { RawRecord } from '../core/index.js';
import { TRANSFORMS } from './kinds/index.js';
import { isErrorAnswer } from './kinds/request-fields.js';
import type { RecordOutput } from './record-output.js';
import { textOf } from './record-output.js';

/**
 * Makes the rows and dead letters of one whole record of a known kind. Pure, and never throws whatever the body holds.
 * @param joined the body's text, when it came in pieces
 */
export function transformRecord(record: RawRecord, output: RecordOutput, joined?: string): void {
  const bodyText = () => joined ?? (record.enc === undefined ? textOf(record.body) : String(record.body));
  if (isErrorAnswer(record.req)) {
    output.countExchangeError();
    return;
  }
  if (record.enc !== undefined) {
    const what = record.enc === 'text' ? 'JSON' : 'UTF-8';
    output.dead({ path: 'body', reason: `what was received is not ${what}` }, bodyText());
    return;
  }
  let body = record.body;
  if (joined !== undefined) {
    try {
      body = JSON.parse(joined);
    } catch {
      output.dead({ path: 'body', reason: 'the joined pieces are not JSON' }, joined);
      return;
    }
  }
  TRANSFORMS[record.kind]({ record, body, bodyText }, output);
}
