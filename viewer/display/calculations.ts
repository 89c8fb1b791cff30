import type { Value } from '../frames.js';

interface Calculation {
  /** As in Grafana: the name of a column of `reduce`, and of a value of a stat with several calculations. */
  readonly name: string;
  /** @param numbers those of the values; not empty unless `ofNothing` */
  readonly of: (values: readonly Value[], numbers: readonly number[]) => Value;
  /** Whether values without a number have a result too. */
  readonly ofNothing?: true;
}

const present = (values: readonly Value[]): Value[] => values.filter((value) => value !== null);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);
const min = (numbers: readonly number[]): number => numbers.reduce((least, value) => Math.min(least, value));
const max = (numbers: readonly number[]): number => numbers.reduce((largest, value) => Math.max(largest, value));
const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length;
const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);
const difference = (numbers: readonly number[]): number => (numbers.at(-1) ?? 0) - (numbers[0] ?? 0);

const CALCULATIONS: Readonly<Record<string, Calculation>> = {
  lastNotNull: { name: 'Last *', of: (values) => values.findLast((value) => value !== null) ?? null, ofNothing: true },
  last: { name: 'Last', of: (values) => values.at(-1) ?? null, ofNothing: true },
  firstNotNull: { name: 'First *', of: (values) => values.find((value) => value !== null) ?? null, ofNothing: true },
  first: { name: 'First', of: (values) => values[0] ?? null, ofNothing: true },
  count: { name: 'Count', of: (values) => present(values).length, ofNothing: true },
  countAll: { name: 'Count all', of: (values) => values.length, ofNothing: true },
  distinctCount: { name: 'Distinct Count', of: (values) => new Set(present(values)).size, ofNothing: true },
  changeCount: {
    name: 'Change Count',
    of: (values) => present(values).filter((value, i, all) => i > 0 && value !== all[i - 1]).length,
    ofNothing: true,
  },
  allIsNull: { name: 'All Nulls', of: (values) => present(values).length === 0, ofNothing: true },
  allIsZero: { name: 'All Zeros', of: (_, numbers) => numbers.every((value) => value === 0) },
  min: { name: 'Min', of: (_, numbers) => min(numbers) },
  max: { name: 'Max', of: (_, numbers) => max(numbers) },
  logmin: {
    name: 'Min (above zero)',
    of: (_, numbers) => {
      const positive = numbers.filter((value) => value > 0);
      return positive.length === 0 ? null : min(positive);
    },
  },
  mean: { name: 'Mean', of: (_, numbers) => mean(numbers) },
  median: { name: 'Median', of: (_, numbers) => medianOf(ascending(numbers)) },
  sum: { name: 'Total', of: (_, numbers) => sum(numbers) },
  range: { name: 'Range', of: (_, numbers) => max(numbers) - min(numbers) },
  variance: { name: 'Variance', of: (_, numbers) => variance(numbers) },
  stdDev: { name: 'StdDev', of: (_, numbers) => Math.sqrt(variance(numbers)) },
  diff: { name: 'Difference', of: (_, numbers) => difference(numbers) },
  diffperc: {
    name: 'Difference percent',
    of: (_, numbers) => (numbers[0] === 0 ? null : (difference(numbers) / (numbers[0] ?? 1)) * 100),
  },
  delta: { name: 'Delta', of: (_, numbers) => deltaOf(numbers) },
  step: {
    name: 'Step',
    of: (_, numbers) =>
      numbers.length < 2 ? null : min(numbers.slice(1).map((value, i) => value - (numbers[i] ?? 0))),
  },
};

/** By Welford's method, which large numbers do not make inexact. */
function variance(numbers: readonly number[]): number {
  let average = 0;
  let squares = 0;
  for (const [i, value] of numbers.entries()) {
    const before = average;
    average += (value - before) / (i + 1);
    squares += (value - before) * (value - average);
  }
  return squares / numbers.length;
}

function medianOf(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 0 ? ((sorted[middle - 1] ?? 0) + upper) / 2 : upper;
}

/** The increase of a counter. After it has fallen, it counts from the second value on, as in Grafana. */
function deltaOf(numbers: readonly number[]): number {
  const steps = numbers.slice(1).map((value, i) => value - (numbers[i] ?? 0));
  return sum(steps.filter((step, i) => step >= 0 && (steps[i - 1] ?? 0) >= 0));
}

const ORDINALS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };
const ordinalOf = new Intl.PluralRules('en-US', { type: 'ordinal' });

function calculationOf(id: string): Calculation | undefined {
  if (Object.hasOwn(CALCULATIONS, id)) return CALCULATIONS[id];
  const [, percent] = /^p([1-9]\d?)$/.exec(id) ?? [];
  if (percent === undefined) return undefined;
  const at = Number(percent) / 100;
  return {
    name: `${percent}${ORDINALS[ordinalOf.select(Number(percent))]} %`,
    of: (_, numbers) => ascending(numbers)[Math.round((numbers.length - 1) * at)] ?? null,
  };
}

export const isCalculation = (id: string): boolean => calculationOf(id) !== undefined;

export const calculationName = (id: string): string => calculationOf(id)?.name ?? id;

/**
 * Reduces the values of a field to one; NULL where there is nothing to calculate with.
 * @param id a calculation that `isCalculation` knows
 */
export function reduceValues(values: readonly Value[], id: string): Value {
  const calculation = calculationOf(id);
  const numbers = values.filter((value) => typeof value === 'number');
  if (!calculation || (numbers.length === 0 && !calculation.ofNothing)) return null;
  return calculation.of(values, numbers);
}
