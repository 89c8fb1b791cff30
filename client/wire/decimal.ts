import { z } from 'zod';
import { JsonNumber } from './json-number.js';
import { expected } from './validation-issue.js';

/**
 * An amount as decimal text, like `0.1`, `-12.000001` or `0`: exact, without exponent, plus sign and redundant zeros, so
 * that equal amounts are equal texts.
 */
export type Decimal = string;

/** Maximum number of digits: without a bound, an exponent like 1e999999999 would fill the memory. */
const MAX_DIGITS = 100;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;

/** The decimal of a number's text; undefined for other texts and for more than 100 digits without exponent. */
export function toDecimal(text: string): Decimal | undefined {
  const match = text.length <= 2 * MAX_DIGITS ? NUMBER.exec(text) : null;
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  if (digits === '') return undefined;
  if (/^0*$/.test(digits)) return '0';
  const point = whole.length + Number(exponent);
  if (point > MAX_DIGITS || point < -MAX_DIGITS) return undefined;
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0');
  const at = Math.max(point, 1);
  const before = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const after = padded.slice(at).replace(/0+$/, '');
  if (before.length + after.length > MAX_DIGITS) return undefined;
  return `${sign === '-' ? '-' : ''}${before}${after === '' ? '' : `.${after}`}`;
}

/** The amount of a `JsonNumber`, or of a string that contains a number; undefined for anything else. */
function amountOf(value: unknown): Decimal | undefined {
  if (value instanceof JsonNumber) return toDecimal(value.text);
  return typeof value === 'string' ? toDecimal(value) : undefined;
}

/** An amount of an account record; on the wire a number. Returns a `Decimal`. For bodies of `parseLossless`. */
export const decimalSchema = z.unknown().transform((value, context): Decimal => {
  const amount = amountOf(value);
  if (amount !== undefined) return amount;
  context.addIssue({ code: 'custom', message: expected('a number', value) });
  return z.NEVER;
}) as unknown as z.ZodType<Decimal, number>;
