import type { Value } from '../frames.js';
import { type Completeness, isAllMissing } from './strokes.js';

/** A stretch of time in which a field had one value. */
export interface StateBand {
  readonly from: number;
  readonly to: number;
  readonly value: Value;
}

export interface BandOptions {
  readonly times: readonly number[];
  readonly values: readonly Value[];
  readonly bucketMs: number;
  readonly completeness: Completeness | undefined;
  /** End of the time range, milliseconds: without completeness, the last value holds until then. */
  readonly end: number;
  /** Whether neighbouring bands of the same value are one. */
  readonly merge: boolean;
}

/** The bands of a field: none where it is NULL, none in a bucket that is missing or has no row. */
export function bandsOf({ times, values, bucketMs, completeness, end, merge }: BandOptions): StateBand[] {
  const bands: { from: number; to: number; value: Value }[] = [];
  for (const [i, from] of times.entries()) {
    const value = values[i] ?? null;
    if (value === null || isAllMissing(completeness, i)) continue;
    const next = times[i + 1];
    const to = completeness
      ? Math.min(from + bucketMs, next ?? Number.POSITIVE_INFINITY)
      : (next ?? Math.max(from, end));
    const last = bands.at(-1);
    if (merge && last && last.value === value && last.to === from) last.to = to;
    else bands.push({ from, to, value });
  }
  return bands;
}
