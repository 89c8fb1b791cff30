import type { Value } from '../frames.js';
import { type Completeness, isAllMissing } from './strokes.js';

/** A bar of a bar chart; group `i` lies between `i` and `i + 1`. */
export interface GroupBar {
  readonly series: number;
  readonly row: number;
  readonly left: number;
  readonly right: number;
  readonly low: number;
  readonly high: number;
}

export interface GroupOptions {
  readonly columns: readonly (readonly Value[])[];
  readonly stacking: 'none' | 'normal' | 'percent';
  readonly completeness: Completeness | undefined;
  /** Fraction of a group that its bars take. */
  readonly groupWidth: number;
}

/** The bars of each row, side by side or stacked: negative values below zero, none in a row that is missing. */
export function groupBarsOf({ columns, stacking, completeness, groupWidth }: GroupOptions): GroupBar[] {
  const rows = Math.max(0, ...columns.map(({ length }) => length));
  const width = stacking === 'none' ? groupWidth / Math.max(1, columns.length) : groupWidth;
  const bars: GroupBar[] = [];
  for (let row = 0; row < rows; row++) {
    if (isAllMissing(completeness, row)) continue;
    const total = columns.reduce((sum, values) => sum + Math.abs(numberAt(values, row)), 0);
    const ends = { up: 0, down: 0 };
    for (const [series, values] of columns.entries()) {
      const value = stacking === 'percent' ? numberAt(values, row) / (total || 1) : numberAt(values, row);
      if (value === 0) continue;
      const side = value > 0 ? 'up' : 'down';
      const base = stacking === 'none' ? 0 : ends[side];
      ends[side] = base + value;
      const left = row + (1 - groupWidth) / 2 + (stacking === 'none' ? series * width : 0);
      const [low, high] = value > 0 ? [base, base + value] : [base + value, base];
      bars.push({ series, row, left, right: left + width, low, high });
    }
  }
  return bars;
}

function numberAt(values: readonly Value[], row: number): number {
  const value = values[row];
  return typeof value === 'number' ? value : 0;
}
