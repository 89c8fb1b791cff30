import { groupBy } from '../../core/index.js';
import { decimalText, HUNDREDTHS, MICROS } from '../amounts.js';
import { type Comparison, compareRows, type KeyedRow } from '../comparison.js';
import type { TextRow } from '../recorded.js';

export const NULL = 'NULL';

export const usdc = (micros: bigint | null): string => (micros === null ? NULL : decimalText(micros, MICROS));
export const sharesText = (hundredths: bigint): string => decimalText(hundredths, HUNDREDTHS);

/** A number that views compute by divisions: the order of operations, and the last digit of a decimal, may differ. */
export const figure = (value: number | null): string => (value === null ? NULL : `~${value}`);

/** The same of a figure of a view. */
export const sameFigure = (text: string): string => (text === NULL ? NULL : `~${text}`);

const TOLERANCE = 1e-9;

/** Compares rows; of numbers that `figure` made, only as many digits as no order of operations changes. */
export function compareFigureRows(name: string, expected: readonly KeyedRow[], found: readonly KeyedRow[]): Comparison {
  const wanted = groupBy(
    expected,
    ([key]) => key,
    ([, value]) => value,
  );
  const aligned = found.map(([key, value]): KeyedRow => {
    const texts = wanted.get(key) ?? [];
    const index = texts.findIndex((text) => areClose(text, value));
    return [key, index < 0 ? value : (texts.splice(index, 1)[0] ?? value)];
  });
  const plain = ([key, value]: KeyedRow): KeyedRow => [key, value.replaceAll('~', '')];
  return compareRows(name, expected.map(plain), aligned.map(plain));
}

function areClose(expected: string, found: string): boolean {
  const [wanted, here] = [expected.split(' '), found.split(' ')];
  return wanted.length === here.length && wanted.every((text, i) => isClose(text, here[i] ?? ''));
}

function isClose(wanted: string, here: string): boolean {
  if (wanted === here) return true;
  if (!wanted.startsWith('~') || !here.startsWith('~')) return false;
  const [a, b] = [Number(wanted.slice(1)), Number(here.slice(1))];
  return Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a));
}

/** Begin of the period that has a moment; both in the same unit. */
export const periodOf = (at: number, length: number): number => Math.floor(at / length) * length;

/**
 * Rows as keys and values.
 * @param how changes values, by their position
 */
export const keyedRows = (
  rows: readonly TextRow[],
  how: Readonly<Record<number, (text: string) => string>> = {},
): KeyedRow[] =>
  rows.map(({ key, value }) => [key.join(' '), value.map((text, i) => how[i]?.(text) ?? text).join(' ')]);
