import { z } from 'zod';
import { JsonNumber } from './json-number.js';
import { MAX_UNIX_SECONDS } from './scalars.js';
import { expected } from './validation-issue.js';

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,18}))?)?(?:[Zz]|([+-])(\d\d):?(\d\d)?)?)?$/;
const MAX_MICROS = MAX_UNIX_SECONDS * 1e6;

/**
 * The Unix microseconds of an ISO 8601 time, undefined for other texts and for days and hours that do not exist. Fractions
 * are truncated to microseconds. A time
 * without an offset is UTC, and a date without a time is its first moment.
 */
export function parseIsoMicros(text: string): number | undefined {
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [
    ,
    year,
    month,
    day,
    hour = '0',
    minute = '0',
    second = '0',
    fraction = '',
    sign,
    offsetHour = '0',
    offsetMinute = '0',
  ] = match;
  const fields = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const;
  const utc = new Date(Date.UTC(...fields));
  // `Date.UTC` turns a day or hour that does not exist into another one.
  if (
    utc.getUTCFullYear() !== fields[0] ||
    utc.getUTCMonth() !== fields[1] ||
    utc.getUTCDate() !== fields[2] ||
    utc.getUTCHours() !== fields[3]
  )
    return undefined;
  if (fields[4] > 59 || fields[5] > 59 || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHour) * 3600 + Number(offsetMinute) * 60);
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0'));
  return (utc.getTime() / 1000 - offset) * 1e6 + micros;
}

/** Unix microseconds of epoch milliseconds given as text. */
const epochMicros = (text: string): number | undefined =>
  /^\d{1,15}(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1000) : undefined;

/**
 * A time of an account record: ISO 8601, or epoch milliseconds (as in the sample of an order record). Returns Unix
 * microseconds. For bodies of `parseLossless`.
 */
export const instantSchema = z.unknown().transform((value, context): number => {
  const text = value instanceof JsonNumber ? value.text : value;
  const micros =
    typeof text !== 'string' ? undefined : (epochMicros(text) ?? (value === text ? parseIsoMicros(text) : undefined));
  if (micros !== undefined && micros >= 0 && micros <= MAX_MICROS) return micros;
  context.addIssue({ code: 'custom', message: expected('a time in ISO 8601 or epoch milliseconds', value) });
  return z.NEVER;
}) as unknown as z.ZodType<number, string | number>;
