import type { Value } from '../frames.js';
import { type Completeness, isAllMissing, type MissingStretch } from './strokes.js';

/** A cell of a heat map: a stretch of time, a stretch of the other axis, and the value that its color shows. */
export interface HeatCell {
  readonly from: number;
  readonly to: number;
  readonly low: number;
  readonly high: number;
  readonly value: number;
}

const MIN_OPACITY = 0.25;

/**
 * How opaque the color of a cell is on a scale of opacity: 0 for a value of 0 at the low end of the scale, where nothing was
 * measured, and clearly more for any value above it.
 */
export function cellOpacity(value: number, min: number, max: number, exponent: number): number {
  if (value === 0 && min === 0) return 0;
  const part = max > min ? Math.min(1, Math.max(0, (value - min) / (max - min))) : 1;
  return MIN_OPACITY + (1 - MIN_OPACITY) * part ** exponent;
}

interface Rows {
  readonly times: readonly number[];
  readonly bucketMs: number;
  readonly completeness: Completeness | undefined;
}

/** The cells of a frame with a column per row of the heat map: row `i` lies between `i` and `i + 1`. */
export function cellsOfRows(rows: Rows, columns: readonly (readonly Value[])[]): HeatCell[] {
  return rows.times.flatMap((from, i) => {
    if (isAllMissing(rows.completeness, i)) return [];
    const to = endOf(rows, i);
    return columns.flatMap((values, low) => {
      const value = values[i];
      return typeof value === 'number' ? [{ from, to, low, high: low + 1, value }] : [];
    });
  });
}

const endOf = ({ times, bucketMs }: Rows, i: number): number =>
  Math.min((times[i] ?? 0) + bucketMs, times[i + 1] ?? Number.POSITIVE_INFINITY);

/** The number of values in each cell of this width and height; values of missing buckets do not count. */
export function countedCells(
  { times, completeness }: Rows,
  columns: readonly (readonly Value[])[],
  width: number,
  height: number,
): HeatCell[] {
  const counts = new Map<string, { x: number; y: number; value: number }>();
  for (const values of columns) {
    for (const [i, value] of values.entries()) {
      if (typeof value !== 'number' || isAllMissing(completeness, i)) continue;
      const [x, y] = [Math.floor((times[i] ?? 0) / width), Math.floor(value / height + 1e-9)];
      const cell = counts.get(`${x} ${y}`) ?? { x, y, value: 0 };
      cell.value++;
      counts.set(`${x} ${y}`, cell);
    }
  }
  return [...counts.values()].map(({ x, y, value }) => ({
    from: x * width,
    to: (x + 1) * width,
    low: y * height,
    high: (y + 1) * height,
    value,
  }));
}

/** Cells without the time that is missing completely. */
export function withoutMissing(cells: readonly HeatCell[], missing: readonly MissingStretch[]): HeatCell[] {
  return missing
    .filter(({ all }) => all)
    .reduce<readonly HeatCell[]>(
      (left, gap) =>
        left.flatMap((cell) => {
          if (gap.to <= cell.from || gap.from >= cell.to) return [cell];
          const before = { ...cell, to: gap.from };
          const after = { ...cell, from: gap.to };
          return [before, after].filter(({ from, to }) => from < to);
        }),
      cells,
    )
    .slice();
}
