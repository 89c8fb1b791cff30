import { jsonExcess, type RawRecord } from '../../core/index.js';
import { repeatedName } from '../json/repeated-names.js';
import type { Privacy } from '../record/privacy.js';
import type { RecordOutput } from '../record/record-output.js';
import { TRANSFORMS } from './index.js';
import { describeOversized, isFailedResponse, isOversizedFrame } from './request-fields.js';

/** A complete record of a known kind. */
interface WholeRecord {
  readonly record: RawRecord;
  /** The received body. */
  readonly bodyText: () => string;
  /** Whether it was received in pieces, and so is not parsed yet. */
  readonly joined?: boolean;
  /** Number of names of all objects in the body's text, if known. */
  readonly names?: number | undefined;
  readonly privacy: Privacy;
}

/** Transforms one complete record of a known kind into rows and dead letters. Pure; never throws, for any body. */
export function transformRecord(whole: WholeRecord, output: RecordOutput): void {
  const { record, bodyText, joined, names, privacy } = whole;
  output.about(bodyText);
  if (isFailedResponse(record.request)) {
    output.countExchangeError();
    return;
  }
  if (isOversizedFrame(record.request)) {
    const { reason, declaredBytes } = describeOversized(record.request);
    output.dead({ path: 'body', reason }, bodyText(), declaredBytes);
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

/** Why the payload is a string in its record; checks the same limit as the collector. */
function whyEncoded(enc: 'text' | 'base64', bodyText: () => string): string {
  if (enc === 'base64') return 'is not UTF-8';
  return jsonExcess(Buffer.from(bodyText())) ?? 'is not JSON';
}
