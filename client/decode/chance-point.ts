import { chancePointSchema } from '../wire/chance.js';
import { MAX_UNIX_SECONDS } from '../wire/scalars.js';
import { type InvalidEntries, type InvalidEntry, invalidEntry, isObject } from './result.js';

/** A probability at a time, exactly as in the JSON. */
export interface ChancePoint {
  /** Unix seconds. */
  readonly time: number;
  /** 0 to 1. */
  readonly probability: number;
}

/** The point of a value; undefined when it is not one. Accepts exactly what `chancePointSchema` accepts. */
export function pointOf(value: unknown): ChancePoint | undefined {
  if (!isObject(value)) return undefined;
  const { t, p } = value;
  // Comparisons with NaN are false, and the bounds exclude infinity, so this also requires finite numbers.
  return typeof t === 'number' && t >= 0 && t <= MAX_UNIX_SECONDS && typeof p === 'number' && p >= 0 && p <= 1
    ? { time: t, probability: p }
    : undefined;
}

/** The invalid entry for a value that is not a point. */
export function badPoint(value: unknown, index: number, path: string): InvalidEntry {
  return invalidEntry(chancePointSchema, value, index, path);
}

/** The points of an array; its invalid entries are added to `bad`. */
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
