import type { Frame } from '../frames.js';
import type { FieldConfig } from './fields.js';

/** A bucket of a histogram, with the number of values of each series in it. */
export interface HistogramBucket {
  readonly from: number;
  readonly to: number;
  readonly counts: readonly number[];
}

const MAX_BUCKETS = 1000;
const STEPS = [1, 2, 2.5, 5, 10];

/** The smallest of 1, 2, 2.5 and 5, times a power of ten, that is not below a width. */
export function roundWidth(width: number): number {
  const power = 10 ** Math.floor(Math.log10(width));
  return (STEPS.find((step) => step * power >= width * (1 - 1e-9)) ?? 10) * power;
}

/**
 * The buckets from the lowest to the highest value, empty ones too; a value on a boundary is in the bucket above it.
 * @param width of a bucket; undefined: rounded, so that there are at most `count`
 */
export function histogramOf(
  series: readonly (readonly number[])[],
  { width, count = 30, offset = 0 }: { width?: number | undefined; count?: number; offset?: number },
): HistogramBucket[] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of series.flat()) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [];
  const least = (high - low) / MAX_BUCKETS;
  const wanted = width !== undefined && width > 0 ? width : roundWidth((high - low) / count || 1);
  const size = Math.max(wanted, least);
  // Sums of decimal fractions are not exact: 0.3 / 0.1 is below 3.
  const indexOf = (value: number) => Math.floor((value - offset) / size + 1e-9);
  const first = indexOf(low);
  const counts = Array.from({ length: indexOf(high) - first + 1 }, () => series.map(() => 0));
  for (const [i, values] of series.entries()) {
    for (const value of values) {
      const bucket = counts[indexOf(value) - first];
      if (bucket) bucket[i] = (bucket[i] ?? 0) + 1;
    }
  }
  const boundary = (index: number) => Number(((first + index) * size + offset).toPrecision(12));
  return counts.map((one, i) => ({ from: boundary(i), to: boundary(i + 1), counts: one }));
}

const FROM = 'From';
const TO = 'To';

/** The buckets as a table: a row per bucket, with a column of counts per series. */
export function bucketFrame(buckets: readonly HistogramBucket[], names: readonly string[]): Frame {
  const column = (name: string, values: readonly number[]) => ({ name, kind: 'number' as const, values });
  return {
    refId: 'buckets',
    fields: [
      column(
        FROM,
        buckets.map(({ from }) => from),
      ),
      column(
        TO,
        buckets.map(({ to }) => to),
      ),
      ...names.map((name, i) =>
        column(
          name,
          buckets.map(({ counts }) => counts[i] ?? 0),
        ),
      ),
    ],
  };
}

/** How that table is shown: the boundaries in the unit of the values, the counts without one. */
export function bucketConfig(unit: string | undefined, decimals: number | undefined, noValue: unknown): FieldConfig {
  const properties = Object.entries({ unit, decimals }).map(([id, value]) => ({ id, value }));
  return {
    defaults: { decimals: 0, noValue },
    overrides: [FROM, TO].map((options) => ({ matcher: { id: 'byName', options }, properties })),
  };
}
