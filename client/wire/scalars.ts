import { z } from 'zod';
import { JsonNumber } from './json-number.js';
import { expected } from './validation-issue.js';

/** An ID: any text that is not empty. The interface says UUID; nothing here depends on that. */
export const idSchema = z.string().min(1);

/** A price or probability of the public streams and of chance history: a finite JSON number from 0 to 1. */
export const probabilitySchema = z.number().min(0).max(1);

/** The last second of the year 2299: the maximum of a ClickHouse DateTime64(6), and far below any time in milliseconds. */
export const MAX_UNIX_SECONDS = 10_413_791_999;

/** Unix seconds of chance points. */
export const unixSecondsSchema = z.number().min(0).max(MAX_UNIX_SECONDS);

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** A number of a reference record: a finite JSON number, or a string that contains one. Returns the number. */
export const numericSchema = z.unknown().transform((value, context): number => {
  const plain = value instanceof JsonNumber ? value.text : value;
  const number = typeof plain === 'string' && DECIMAL.test(plain) ? Number(plain) : plain;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  context.addIssue({ code: 'custom', message: expected('a number', value) });
  return z.NEVER;
});
