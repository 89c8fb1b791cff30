import { decimalText, HUNDREDTHS, MICROS } from '../amounts.js';
import type { KeyedRow } from '../comparison.js';
import type { TextRow } from '../recorded.js';

export const NULL = 'NULL';

export const usdc = (micros: bigint | null): string => (micros === null ? NULL : decimalText(micros, MICROS));
export const sharesText = (hundredths: bigint): string => decimalText(hundredths, HUNDREDTHS);

/** A number that views compute in floating point: as many digits as no order of its operations changes. */
export function figure(value: number | null): string {
  if (value === null) return NULL;
  const text = value.toPrecision(9);
  return String(Number(text)) === '-0' ? '0' : String(Number(text));
}

/** The same of a figure of a view. */
export const sameFigure = (text: string): string => (text === NULL ? NULL : figure(Number(text)));

/** Begin of the period that has a moment; both in the same unit. */
export const periodOf = (at: number, length: number): number => Math.floor(at / length) * length;

/**
 * Rows as keys and values. Numbers that views compute in floating point are compared as `figure` gives them.
 * @param how changes values, by their position
 */
export const keyedRows = (
  rows: readonly TextRow[],
  how: Readonly<Record<number, (text: string) => string>> = {},
): KeyedRow[] =>
  rows.map(({ key, value }) => [key.join(' '), value.map((text, i) => how[i]?.(text) ?? text).join(' ')]);
