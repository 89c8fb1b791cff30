import type { ChancePoint } from '../../client/index.js';

/** A chance at a time, as rows hold it. */
interface HistoryPoint {
  /** Unix microseconds. */
  readonly occurredAt: number;
  readonly chance: number;
}

/**
 * The observations in an answer of chance history (part 6.2). The first point is never one: it is the anchor, the last
 * known probability at or before the start of the range (a true point at exactly the start is met again by a request
 * that begins earlier). Two points with the same probability are a flat line when the second is at the end of the
 * range; when the end is unknown they may be one, and storing the second would invent an observation.
 * @param received the array as it was received: when its first entry is invalid, the anchor is not among `points`
 * @param to end of the range that was asked for, Unix seconds; undefined when it is unknown
 */
export function observedPoints(
  received: unknown,
  points: readonly ChancePoint[],
  to: number | undefined,
): HistoryPoint[] {
  const [anchor, second] = points;
  if (Array.isArray(received) && !isSame(received[0], anchor)) return points.map(observed);
  if (
    points.length === 2 &&
    anchor?.probability === second?.probability &&
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
