import { UsageError } from '../core/index.js';
import { parseTime, UNIT_MS } from './display/relative-time.js';

/** The time range of a dashboard. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** The range of a query, and the width of its buckets. */
export interface MacroContext {
  readonly range: TimeRange;
  /** Width of one bucket, milliseconds: `bucketMs`. */
  readonly bucketMs: number;
}

/** Seconds of a bucket, at least 1. */
export const wholeSeconds = (bucketMs: number): number => Math.max(1, Math.floor(bucketMs / 1000));

/**
 * Parses a range such as `now-6h` to `now`.
 * @throws UsageError for anything that is not a time as `parseTime` reads it, and for a range that ends before it begins
 */
export function relativeRange(from: string, to: string, now: Date): TimeRange {
  const range = { from: timeOf(from, now, 'from'), to: timeOf(to, now, 'to') };
  return range.from <= range.to ? range : refuse(`the range ${from} to ${to} ends before it begins`);
}

function timeOf(text: string, now: Date, bound: 'from' | 'to'): Date {
  const time = parseTime(text, now.getTime(), bound) ?? refuse(`the time ${JSON.stringify(text)} is not like now-6h`);
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? refuse(`the time ${text} is beyond what a date can be`) : at;
}

/** Milliseconds of a Grafana interval such as `10s` or `500ms`. @throws UsageError for anything else */
export function intervalMs(text: string): number {
  const [, amount = '', unit = ''] =
    /^(\d+)(ms|[smhdw])$/.exec(text) ?? refuse(`the interval ${JSON.stringify(text)} is not like 10s`);
  return Number(amount) * (unit === 'ms' ? 1 : (UNIT_MS[unit] ?? 0));
}

/** Grafana's rounding of intervals: the raw interval from which on a rounded one is used, milliseconds. */
const STEPS: readonly (readonly [below: number, rounded: number])[] = [
  [10, 1],
  [15, 10],
  [35, 20],
  [75, 50],
  [150, 100],
  [350, 200],
  [750, 500],
  [1500, 1000],
  [3500, 2000],
  [7500, 5000],
  [12_500, 10_000],
  [17_500, 15_000],
  [25_000, 20_000],
  [45_000, 30_000],
  [90_000, 60_000],
  [210_000, 120_000],
  [450_000, 300_000],
  [750_000, 600_000],
  [1_050_000, 900_000],
  [1_500_000, 1_200_000],
  [2_700_000, 1_800_000],
  [5_400_000, 3_600_000],
  [9_000_000, 7_200_000],
  [16_200_000, 10_800_000],
  [32_400_000, 21_600_000],
  [86_400_000, 43_200_000],
  [604_800_000, 86_400_000],
  [1_814_400_000, 604_800_000],
  [3_628_800_000, 2_592_000_000],
];
const YEAR_MS = 31_536_000_000;

/**
 * Width of one bucket of a panel as Grafana chooses it: the range over the number of points, rounded, and never below
 * the panel's own minimum interval. Milliseconds.
 */
export function bucketMs({ from, to }: TimeRange, points: number, minMs: number): number {
  const raw = (to.getTime() - from.getTime()) / points;
  const rounded = STEPS.find(([below]) => raw < below)?.[1] ?? YEAR_MS;
  return Math.max(rounded, minMs);
}

function refuse(message: string): never {
  throw new UsageError(message);
}
