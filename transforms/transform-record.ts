import type { RawRecord } from '../core/index.js';
import { TRANSFORMS } from './kinds/index.js';
import { isErrorAnswer } from './kinds/request-fields.js';
import type { Privacy } from './privacy.js';
import type { RecordOutput } from './record-output.js';

/** A whole record of a known kind. */
export interface WholeRecord {
  readonly record: RawRecord;
  /** The body as it was received. */
  readonly bodyText: () => string;
  /** Whether that came in pieces, so that it is not parsed yet. */
  readonly joined?: boolean;
  readonly privacy: Privacy;
}

/** Makes the rows and dead letters of one whole record of a known kind. Pure, and never throws whatever the body holds. */
export function transformRecord({ record, bodyText, joined, privacy }: WholeRecord, output: RecordOutput): void {
  output.about(bodyText);
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
  if (joined) {
    try {
      body = JSON.parse(bodyText());
    } catch {
      output.dead({ path: 'body', reason: 'the joined pieces are not JSON' }, bodyText());
      return;
    }
  }
  TRANSFORMS[record.kind]({ record, body, bodyText, privacy }, output);
}
