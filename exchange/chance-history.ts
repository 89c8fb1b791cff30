import type { ChancePoint } from './engine/index.js';

/** How chance history is aggregated: not at all, by a number of seconds, or by calendar months (UTC). */
export type Period =
  | { readonly unit: 'raw' }
  | { readonly unit: 'seconds'; readonly seconds: number }
  | { readonly unit: 'month' };

/** The period codes of part 6.2 (case-sensitive) and their periods; `1m` is one calendar month. */
const NAMED_SECONDS: ReadonlyMap<string, number> = new Map([
  ['1s', 1],
  ['5s', 5],
  ['5M', 300],
  ['10M', 600],
  ['30M', 1800],
  ['1H', 3600],
  ['3H', 10_800],
  ['4H', 14_400],
  ['6H', 21_600],
  ['1d', 86_400],
  ['7d', 604_800],
]);

/** A request for more points per outcome is rejected, not truncated. */
export const MAX_HISTORY_POINTS = 10_000;

/** A named code, or a whole number of seconds (1 to 9,999,999,999) as text; undefined for anything else. */
export function parsePeriod(code: string): Period | undefined {
  if (code === '1m') return { unit: 'month' };
  const seconds = NAMED_SECONDS.get(code) ?? (/^[1-9]\d{0,9}$/.test(code) ? Number(code) : undefined);
  return seconds === undefined ? undefined : { unit: 'seconds', seconds };
}

export interface HistoryRange {
  readonly period: Period;
  /** Unix seconds; fractions are truncated. Not after `to`. */
  readonly from: number;
  readonly to: number;
}

/**
 * The chance history of one market (interface, parts 4.5 and 6.2) over its raw points, which hold one point per second
 * with a change.
 *
 * - The first point is the anchor: `from` and the last chance at or before it; none if there was no chance yet.
 * - Then every point with `from < t <= to`: raw points unchanged; aggregated, the last chance of every period that has
 *   a change, at the period's end. Periods are never cut: one that ends after `to` is left out, so that a
 *   period's point is the same in every response; the current period appears once `to` reaches its end.
 * - Without such a point: two points, `from` and `to`, each with the last chance at that time (equal unless the only changes
 *   are in a period that ends after `to`).
 * - No chance up to `to`: no point at all.
 *
 * @param lastAtOrBefore the last raw point with `t <= seconds`
 * @returns points in order of time, or undefined when there are more than `MAX_HISTORY_POINTS`
 */
export function chanceHistory(
  lastAtOrBefore: (seconds: number) => ChancePoint | undefined,
  range: HistoryRange,
): readonly ChancePoint[] | undefined {
  const from = Math.floor(range.from);
  const to = Math.floor(range.to);
  const anchor = lastAtOrBefore(from);
  const points: ChancePoint[] = [];
  // Backwards, one look-up per point: the work depends on the number of points alone, not on the length of the range.
  let last = lastAtOrBefore(beforeOrAt(range.period, to));
  while (last !== undefined) {
    const { start, end } = periodOf(range.period, last.t);
    if (end <= from) break;
    if (end <= to) points.push({ t: end, p: last.p });
    if (points.length + (anchor ? 1 : 0) > MAX_HISTORY_POINTS) return undefined;
    last = lastAtOrBefore(start - 1);
  }
  if (points.length === 0) return withoutPoints(lastAtOrBefore, anchor, range.period, from, to);
  points.reverse();
  return anchor ? [{ t: from, p: anchor.p }, ...points] : points;
}

function withoutPoints(
  lastAtOrBefore: (seconds: number) => ChancePoint | undefined,
  anchor: ChancePoint | undefined,
  period: Period,
  from: number,
  to: number,
): readonly ChancePoint[] {
  const known = lastAtOrBefore(beforeOrAt(period, to));
  const closing = known !== undefined && known.t >= (anchor?.t ?? 0) ? known : (anchor ?? lastAtOrBefore(to));
  if (closing === undefined) return [];
  const end = { t: to, p: closing.p };
  return anchor ? [{ t: from, p: anchor.p }, end] : [end];
}

/** The last second that counts for a value at `to`: a raw point is of its second, a period excludes its end. */
const beforeOrAt = (period: Period, to: number): number => (period.unit === 'raw' ? to : to - 1);

/** The period of a second: its first second, and the `t` of its point. */
function periodOf(period: Period, second: number): { start: number; end: number } {
  if (period.unit === 'raw') return { start: second, end: second };
  if (period.unit === 'seconds') {
    const start = Math.floor(second / period.seconds) * period.seconds;
    return { start, end: start + period.seconds };
  }
  const date = new Date(second * 1000);
  const month = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1) / 1000;
  return { start: month(0), end: month(1) };
}
