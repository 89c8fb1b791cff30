import { jsonExcess, type RawRecord } from '../../core/index.js';
import { repeatedName } from '../json/repeated-names.js';
import type { Privacy } from '../record/privacy.js';
import type { RecordOutput } from '../record/record-output.js';
import { TRANSFORMS } from './index.js';
import { isFailedAnswer } from './request-fields.js';

/** A whole record of a known kind. */
interface WholeRecord {
  readonly record: RawRecord;
  /** The body as it was received. */
  readonly bodyText: () => string;
  /** Whether that came in pieces, so that it is not parsed yet. */
  readonly joined?: boolean;
  /** How many names the objects of the body's text have, where that is known. */
  readonly names?: number | undefined;
  readonly privacy: Privacy;
}

/** Makes the rows and dead letters of one whole record of a known kind. Pure, and never throws whatever the body holds. */
export function transformRecord(whole: WholeRecord, output: RecordOutput): void {
  const { record, bodyText, joined, names, privacy } = whole;
  output.about(bodyText);
  if (isFailedAnswer(record.request)) {
    output.countExchangeError();
    return;
  }
  if (record.encoding !== undefined) {
    output.dead({ path: 'body', reason: `the received body ${whyEncoded(record.encoding, bodyText)}` }, bodyText());
    return;
  }
  let body = record.body;
  if (joined) {
    const text = bodyText();
    try {
      const excess = jsonExcess(Buffer.from(text));
      if (excess !== undefined) {
        output.dead({ path: 'body', reason: `the received body ${excess}` }, text);
        return;
      }
      body = JSON.parse(text);
    } catch {
      output.dead({ path: 'body', reason: 'the joined pieces are not JSON' }, text);
      return;
    }
  }
  const repeated = repeatedName(bodyText, names, body);
  if (repeated) {
    output.dead(repeated, bodyText());
    return;
  }
  output.reads(body);
  TRANSFORMS[record.kind]({ record, body, bodyText, privacy }, output);
}

/** Why what arrived stands as a string in its record: the same bound as the collector's tells which it was. */
function whyEncoded(enc: 'text' | 'base64', bodyText: () => string): string {
  if (enc === 'base64') return 'is not UTF-8';
  return jsonExcess(Buffer.from(bodyText())) ?? 'is not JSON';
}
