import type { ChancePoint } from '../../client/index.js';

/** A chance at a time. */
interface HistoryPoint {
  /** Unix microseconds. */
  readonly occurredAt: number;
  readonly chance: number;
}

/** The requested range, Unix seconds; undefined where it is unknown. */
export interface RequestedRange {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/**
 * The observations in a response of chance history (part 6.2). The first point is the anchor and not an observation: the
 * last probability at or before the start of the range (a point exactly at the start is in a request that begins
 * earlier). A market that has no probability so early has no anchor; its first point is then later than the start. Two
 * points with the same probability are a flat line if the second is at the end of the range. If the end is unknown they
 * may be one too, and storing the second could invent an observation.
 * @param received the received array: when its first entry is invalid, the anchor is not among `points`
 */
export function observedPoints(
  received: unknown,
  points: readonly ChancePoint[],
  { from, to }: RequestedRange,
): HistoryPoint[] {
  const [first, second] = points;
  if (first === undefined) return [];
  if (Array.isArray(received) && !isSame(received[0], first)) return points.map(observed);
  if (from !== undefined && to !== undefined && first.time > from && first.time < to) return points.map(observed);
  if (
    points.length === 2 &&
    first.probability === second?.probability &&
    (to === undefined || (second?.time ?? 0) >= to)
  ) {
    return [];
  }
  return points.slice(1).map(observed);
}

function isSame(received: unknown, point: ChancePoint | undefined): boolean {
  const { t, p } = (received ?? {}) as { readonly t?: unknown; readonly p?: unknown };
  return t === point?.time && p === point?.probability;
}

function observed(point: ChancePoint): HistoryPoint {
  return { occurredAt: microsOf(point.time), chance: point.probability };
}

/** Unix seconds as whole microseconds. */
export function microsOf(seconds: number): number {
  return Math.round(seconds * 1e6);
}
