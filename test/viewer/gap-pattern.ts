import type { Random } from '../../core/index.js';

const BUCKETS = 40;

export interface GapPattern {
  /** Beginnings of the buckets that have a row. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly completeness: { readonly missing: readonly number[] };
}

/** Forty buckets of which some are missing in whole or in part, some have no value, and some have no row at all. */
export function randomGapPattern(random: Random, bucketMs: number, value = () => random.next()): GapPattern {
  const rows = Array.from({ length: BUCKETS }, (_, i) => ({
    time: i * bucketMs,
    missing: random.next() < 0.3 ? 1 : random.next() < 0.2 ? random.next() * 0.99 : 0,
    value: random.next() < 0.1 ? null : value(),
    absent: random.next() < 0.1,
  })).filter(({ absent }) => !absent);
  return {
    times: rows.map(({ time }) => time),
    values: rows.map(({ value }) => value),
    completeness: { missing: rows.map(({ missing }) => missing) },
  };
}

/** The end of the last bucket. */
export const patternEnd = (bucketMs: number): number => BUCKETS * bucketMs;
