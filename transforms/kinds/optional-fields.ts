import { parseIsoMicros } from '../../client/index.js';
import type { RecordOutput } from '../record/record-output.js';
import { isStorableTime } from '../tables/column-types.js';

/** An optional ISO 8601 field as Unix microseconds; null and a dead letter when it is invalid. Its record remains valid. */
export function timeOrDead(text: string | null, path: string, output: RecordOutput): number | null {
  if (text === null) return null;
  const micros = parseIsoMicros(text);
  if (micros !== undefined && isStorableTime(micros)) return micros;
  output.dead({ path, reason: 'expected an ISO 8601 time of the years 1900 to 2299' }, JSON.stringify(text));
  return null;
}

/** An optional integer; null and a dead letter when it is not one. Its record remains valid. */
export function integerOrDead(value: number | null, path: string, output: RecordOutput): number | null {
  if (value === null || Number.isSafeInteger(value)) return value;
  output.dead({ path, reason: 'expected an integer' }, String(value));
  return null;
}
