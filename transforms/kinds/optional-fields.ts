import type { RecordOutput } from '../record/record-output.js';
import { parseIsoMicros } from './iso-time.js';

/** An optional ISO 8601 field as Unix microseconds; null and a dead letter when it is not a time. Its record stays. */
export function timeOrDead(text: string | null, path: string, output: RecordOutput): number | null {
  if (text === null) return null;
  const micros = parseIsoMicros(text);
  if (micros !== undefined) return micros;
  output.dead({ path, reason: 'expected an ISO 8601 time of the years 1900 to 2299' }, JSON.stringify(text));
  return null;
}

/** An optional integer; null and a dead letter when it is not one. Its record stays. */
export function integerOrDead(value: number | null, path: string, output: RecordOutput): number | null {
  if (value === null || Number.isSafeInteger(value)) return value;
  output.dead({ path, reason: 'expected an integer' }, String(value));
  return null;
}
