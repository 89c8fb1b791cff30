import type { Frame, Value } from '../frames.js';

/** How complete the buckets of a frame are; undefined where a panel's query does not say. */
export interface Completeness {
  /** Missing fraction of each bucket, 0 to 1; null where it is not known. */
  readonly missing: readonly (number | null)[];
}

const MISSING = /^(?:.*_)?missing$/;
const OBSERVED = /^(?:.*_)?(?:observed|backfilled|missing)$/;

/** Whether a column says how much of its bucket was observed, and is no value of its own. */
export const isCompleteness = (name: string): boolean => OBSERVED.test(name);

export function completenessOf({ fields }: Frame): Completeness | undefined {
  const field = fields.find(({ name, kind }) => kind === 'number' && MISSING.test(name));
  return field && { missing: field.values.map((value) => (typeof value === 'number' ? value : null)) };
}

/** Rows of buckets. */
interface Buckets {
  readonly times: readonly number[];
  /** Milliseconds. */
  readonly bucketMs: number;
  readonly completeness: Completeness | undefined;
}

/**
 * The completeness of a query's rows. If the query does not return it, that of the only other query of the panel that does, provided
 * that both have the same buckets between the first and the last row.
 */
export function sharedCompleteness(own: Buckets, all: readonly Buckets[]): Completeness | undefined {
  const [other, ...more] = all.filter(({ completeness }) => completeness !== undefined);
  if (own.completeness || !other || more.length > 0 || other.bucketMs !== own.bucketMs) return own.completeness;
  const first = other.times.indexOf(own.times[0] ?? Number.NaN);
  const isSame = first >= 0 && own.times.every((time, row) => other.times[first + row] === time);
  return isSame ? { missing: own.times.map((_, row) => other.completeness?.missing[first + row] ?? null) } : undefined;
}

/** Everything is missing of a bucket from this fraction on: sums of microseconds are not exact. */
const ALL_MISSING = 1 - 1e-9;
const SOME_MISSING = 1e-9;

/** Whether the bucket of a row is missing completely. */
export const isAllMissing = (completeness: Completeness | undefined, row: number): boolean =>
  (completeness?.missing[row] ?? 0) >= ALL_MISSING;

/**
 * Width of the buckets of rows, milliseconds: a query may have buckets of its own.
 * @param panelMs width that the panel asks for
 * @param isExact whether rows that are closer to each other are buckets too, and not just points
 */
export function bucketWidth(times: readonly number[], panelMs: number, isExact: boolean): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 1; i < times.length; i++) {
    const distance = (times[i] ?? 0) - (times[i - 1] ?? 0);
    if (distance > 0) least = Math.min(least, distance);
  }
  if (!Number.isFinite(least)) return panelMs;
  return isExact ? least : Math.max(least, panelMs);
}

/** A stretch of time that is missing, in whole or in part. */
export interface MissingStretch {
  readonly from: number;
  readonly to: number;
  readonly all: boolean;
}

/** The stretches to hatch, neighbouring buckets of the same kind as one. */
export function missingStretches(
  times: readonly number[],
  bucketMs: number,
  { missing }: Completeness,
): MissingStretch[] {
  const stretches: { from: number; to: number; all: boolean }[] = [];
  for (const [i, from] of times.entries()) {
    const part = missing[i] ?? 0;
    if (part <= SOME_MISSING) continue;
    const all = part >= ALL_MISSING;
    const to = Math.min(from + bucketMs, times[i + 1] ?? Number.POSITIVE_INFINITY);
    const last = stretches.at(-1);
    if (last && last.all === all && last.to >= from) last.to = to;
    else stretches.push({ from, to, all });
  }
  return stretches;
}

/** Points of a polyline: time and value in turn. */
export type Polyline = number[];

export interface StrokeOptions {
  readonly times: readonly number[];
  readonly values: readonly Value[];
  /** Width of a bucket, milliseconds: what the row of a bucket says holds from its time for this long. */
  readonly bucketMs: number;
  readonly completeness: Completeness | undefined;
  readonly step: boolean;
  /** Whether lines span buckets without a value, and how many milliseconds at most; only without completeness. */
  readonly spanNulls: boolean | number;
}

/**
 * The lines of a series. With completeness, none enters a bucket that is missing, and the last value before it is held to
 * the end of its bucket; without, `spanNulls` decides.
 */
export function strokesOf(options: StrokeOptions): Polyline[] {
  return options.completeness ? observedStrokes(options, options.completeness) : spannedStrokes(options);
}

/** The lines around an area: none where one of its two bounds has no value. */
export function areaOf(
  options: StrokeOptions,
  lower: readonly Value[],
): { readonly upper: Polyline[]; readonly lower: Polyline[] } {
  const { values } = options;
  const isBounded = values.map((value, i) => typeof value === 'number' && typeof lower[i] === 'number');
  const linesOf = (bound: readonly Value[]) =>
    strokesOf({ ...options, values: bound.map((value, i) => (isBounded[i] ? value : null)) });
  return { upper: linesOf(values), lower: linesOf(lower) };
}

/**
 * The upper bound of a series in a stack, per row. Where its values end while others of the stack go on, its height is zero
 * from the next row on, and where they begin, up to the row before: without that, the stack would have a hole.
 * @param values on what is below them
 * @param isPresent whether any series of the stack has a value
 */
export function closedBand(
  values: readonly Value[],
  below: readonly number[],
  isPresent: readonly boolean[],
  step: boolean,
): readonly Value[] {
  const hasValue = (row: number) => typeof values[row] === 'number';
  return values.map((value, row) => {
    if (hasValue(row) || !isPresent[row]) return value;
    return hasValue(row - 1) || (!step && hasValue(row + 1)) ? (below[row] ?? null) : value;
  });
}

function observedStrokes({ times, values, bucketMs, step }: StrokeOptions, completeness: Completeness): Polyline[] {
  const lines: Polyline[] = [];
  let line: Polyline | undefined;
  let held = 0;
  let end = 0;
  const finish = () => {
    if (line) line.push(end, held);
    line = undefined;
  };
  for (const [i, time] of times.entries()) {
    const value = values[i];
    if (typeof value !== 'number' || isAllMissing(completeness, i)) {
      finish();
      continue;
    }
    if (line && time > end) finish();
    if (!line) {
      line = [];
      lines.push(line);
    } else if (step) line.push(time, held);
    line.push(time, value);
    held = value;
    end = Math.min(time + bucketMs, times[i + 1] ?? Number.POSITIVE_INFINITY);
  }
  finish();
  return lines;
}

function spannedStrokes({ times, values, step, spanNulls }: StrokeOptions): Polyline[] {
  const lines: Polyline[] = [];
  let line: Polyline | undefined;
  let last: { index: number; time: number; value: number } | undefined;
  for (const [index, time] of times.entries()) {
    const value = values[index];
    if (typeof value !== 'number') continue;
    const between = last !== undefined && index > last.index + 1;
    const spans = typeof spanNulls === 'number' ? last !== undefined && time - last.time < spanNulls : spanNulls;
    if (!line || !last || (between && !spans)) {
      line = [];
      lines.push(line);
    } else if (step) line.push(time, last.value);
    line.push(time, value);
    last = { index, time, value };
  }
  return lines;
}

/** What is drawn of a candle. */
export interface Candle {
  readonly from: number;
  readonly to: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** An observed bucket without a change: a dash at the last close. */
  readonly idle: boolean;
}

/** The candles of a frame: none in a bucket that is missing. */
export function candlesOf(
  times: readonly number[],
  columns: Readonly<Record<'open' | 'high' | 'low' | 'close', readonly Value[]>>,
  bucketMs: number,
  completeness: Completeness | undefined,
): Candle[] {
  const candles: Candle[] = [];
  let last: number | undefined;
  for (const [i, from] of times.entries()) {
    const isMissing = isAllMissing(completeness, i);
    const [open, high, low, close] = [columns.open[i], columns.high[i], columns.low[i], columns.close[i]];
    const to = Math.min(from + bucketMs, times[i + 1] ?? Number.POSITIVE_INFINITY);
    if (isMissing) last = undefined;
    else if (
      typeof open === 'number' &&
      typeof high === 'number' &&
      typeof low === 'number' &&
      typeof close === 'number'
    ) {
      candles.push({ from, to, open, high, low, close, idle: false });
      last = close;
    } else if (completeness && last !== undefined) {
      candles.push({ from, to, open: last, high: last, low: last, close: last, idle: true });
    }
  }
  return candles;
}

/** A bar of a bucket, from `low` to `high`. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The bars of a series: none in a bucket that is missing.
 * @param base where each bar begins: the sum of the series below, when they are stacked
 */
export function barsOf(
  times: readonly number[],
  values: readonly Value[],
  bucketMs: number,
  completeness: Completeness | undefined,
  base: readonly number[] | undefined,
): Bar[] {
  return times.flatMap((from, i) => {
    const value = values[i];
    if (typeof value !== 'number' || value === 0 || isAllMissing(completeness, i)) return [];
    const low = base?.[i] ?? 0;
    const to = Math.min(from + bucketMs, times[i + 1] ?? Number.POSITIVE_INFINITY);
    return [{ from, to, low, high: low + value }];
  });
}
