import { expected } from '../wire/reason.js';
import { MAX_UNIX_SECONDS } from '../wire/scalars.js';
import { type BadEntry, isObject, rangeFault } from './result.js';

/** A probability at a time, exactly as JSON held them. */
export interface ChancePoint {
  /** Unix seconds. */
  readonly time: number;
  /** 0 to 1. */
  readonly probability: number;
}

/** A point, or what is wrong with it. Same verdict and words as `chancePointSchema`. */
export function decodePoint(value: unknown, index: number, path: string): ChancePoint | BadEntry {
  if (!isObject(value)) return { index, path, reason: expected('an object', value), value };
  const { t, p } = value;
  const noTime = rangeFault(t, MAX_UNIX_SECONDS);
  if (noTime) return { index, path: `${path}.t`, reason: noTime, value };
  const noChance = rangeFault(p, 1);
  if (noChance) return { index, path: `${path}.p`, reason: noChance, value };
  return { time: t as number, probability: p as number };
}

export const isBad = (it: ChancePoint | BadEntry): it is BadEntry => 'reason' in it;

/** The points of an array, and its bad entries. */
export function decodePoints(list: readonly unknown[], path: string): { points: ChancePoint[]; bad: BadEntry[] } {
  const points: ChancePoint[] = [];
  const bad: BadEntry[] = [];
  for (const [index, value] of list.entries()) {
    const point = decodePoint(value, index, `${path}[${index}]`);
    if (isBad(point)) bad.push(point);
    else points.push(point);
  }
  return { points, bad };
}
