import type { RecordOutput } from '../record/record-output.js';
import { parseIsoMicros } from './iso-time.js';

/** An optional ISO 8601 field as Unix microseconds; what is no time is null and a dead letter, its record stays. */
export function timeOrDead(text: string | null, path: string, output: RecordOutput): number | null {
  if (text === null) return null;
  const micros = parseIsoMicros(text);
  if (micros !== undefined) return micros;
  output.dead({ path, reason: 'expected an ISO 8601 time of the years 1900 to 2299' }, JSON.stringify(text));
  return null;
}

/** An optional whole number; anything else is null and a dead letter, its record stays. */
export function wholeOrDead(value: number | null, path: string, output: RecordOutput): number | null {
  if (value === null || Number.isSafeInteger(value)) return value;
  output.dead({ path, reason: 'expected a whole number' }, String(value));
  return null;
}
