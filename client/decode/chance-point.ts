import { chancePointSchema } from '../wire/chance.js';
import { MAX_UNIX_SECONDS } from '../wire/scalars.js';
import { type InvalidEntries, type InvalidEntry, invalidEntry, isObject } from './result.js';

/** A probability at a time, exactly as JSON held them. */
export interface ChancePoint {
  /** Unix seconds. */
  readonly time: number;
  /** 0 to 1. */
  readonly probability: number;
}

/** A point, or undefined when it is none. Same verdict as `chancePointSchema`. */
export function pointOf(value: unknown): ChancePoint | undefined {
  if (!isObject(value)) return undefined;
  const { t, p } = value;
  // Comparisons with NaN are false, and nothing above the bounds passes, so this also demands finite numbers.
  return typeof t === 'number' && t >= 0 && t <= MAX_UNIX_SECONDS && typeof p === 'number' && p >= 0 && p <= 1
    ? { time: t, probability: p }
    : undefined;
}

/** What is wrong with a value that is no point. */
export function badPoint(value: unknown, index: number, path: string): InvalidEntry {
  return invalidEntry(chancePointSchema, value, index, path);
}

/** The points of an array; its bad entries are added to `bad`. */
export function decodePoints(list: readonly unknown[], path: string, bad: InvalidEntries): ChancePoint[] {
  const points: ChancePoint[] = [];
  for (let index = 0; index < list.length; index++) {
    const value = list[index];
    const point = pointOf(value);
    if (point) points.push(point);
    else if (!bad.countIfFull()) bad.push(badPoint(value, index, `${path}[${index}]`));
  }
  return points;
}
