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
