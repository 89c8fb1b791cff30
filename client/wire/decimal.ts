import { z } from 'zod';
import { JsonNumber } from './json-number.js';
import { expected } from './validation-issue.js';

/**
 * An amount as decimal text, like `0.1`, `-12.000001` or `0`: exact, without exponent, plus sign or idle zeros, so that
 * equal amounts are equal texts.
 */
export type Decimal = string;

/** More digits than this are no amount: written out, an exponent like 1e999999999 would fill the memory. */
const MOST_DIGITS = 100;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;

/** The decimal that a number's text stands for; undefined when it is none, or has over 100 digits when written out. */
export function toDecimal(text: string): Decimal | undefined {
  const match = text.length <= 2 * MOST_DIGITS ? NUMBER.exec(text) : null;
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  if (digits === '') return undefined;
  if (/^0*$/.test(digits)) return '0';
  const point = whole.length + Number(exponent);
  if (point > MOST_DIGITS || point < -MOST_DIGITS) return undefined;
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0');
  const at = Math.max(point, 1);
  const before = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const after = padded.slice(at).replace(/0+$/, '');
  if (before.length + after.length > MOST_DIGITS) return undefined;
  return `${sign === '-' ? '-' : ''}${before}${after === '' ? '' : `.${after}`}`;
}

/** Why a value is not an amount, or the amount: a JSON number that was kept exact, or the same as a string. */
function amountOf(value: unknown): Decimal | undefined {
  if (value instanceof JsonNumber) return toDecimal(value.text);
  return typeof value === 'string' ? toDecimal(value) : undefined;
}

/** An amount of an account record; on the wire a number. Answers the `Decimal`. Takes bodies of `parseLossless`. */
export const decimalSchema = z.unknown().transform((value, context): Decimal => {
  const amount = amountOf(value);
  if (amount !== undefined) return amount;
  context.addIssue({ code: 'custom', message: expected('a number', value) });
  return z.NEVER;
}) as unknown as z.ZodType<Decimal, number>;
