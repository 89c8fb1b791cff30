import { chanceEnvelopeSchema } from '../wire/chance-stream.js';
import { expected, explainIssue, joinJsonPath } from '../wire/validation-issue.js';
import { badPoint, type ChancePoint, decodePoints, pointOf } from './chance-point.js';
import { type InvalidBody, InvalidEntries, type InvalidEntry, invalid, isObject, type JsonObject } from './result.js';

/** A point of one market. */
export interface MarketPoint extends ChancePoint {
  readonly marketId: string;
}

/** The history of one market, as received: the first point is the anchor (part 6.2, rule 1). */
export interface MarketHistory {
  readonly marketId: string;
  readonly points: readonly ChancePoint[];
}

/** A message of the chance stream, part 6.2. */
export type ChanceMessage =
  | {
      /** `probability`: live, or (`initial`) the last known values after SUBSCRIBE. `aggregated`: UPDATE_HISTORY. */
      readonly type: 'probability' | 'aggregated';
      /** True when `d` was a map from outcome to point, false when it was one point. */
      readonly initial: boolean;
      readonly eventId: string | null;
      readonly points: readonly MarketPoint[];
      /** The first 100 invalid entries. */
      readonly invalidEntries: readonly InvalidEntry[];
      /** Number of invalid entries beyond the first 100. */
      readonly invalidEntriesOmitted: number;
    }
  | {
      readonly type: 'history';
      readonly eventId: string | null;
      readonly series: readonly MarketHistory[];
      /** The first 100 invalid entries. */
      readonly invalidEntries: readonly InvalidEntry[];
      /** Number of invalid entries beyond the first 100. */
      readonly invalidEntriesOmitted: number;
    }
  | {
      readonly type: 'success';
      readonly message: string;
      readonly eventId: string | null;
      /** Outcomes of the confirmation; empty when it has none. */
      readonly marketIds: readonly string[];
    }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly reason: string; readonly eventId: string | null }
  | { readonly type: 'unknown'; readonly wireType: string; readonly eventId: string | null }
  | (InvalidBody & { readonly type: 'invalid' });

/** Decodes a parsed frame of the chance stream. Never throws. An invalid point does not affect the others. */
export function decodeChanceMessage(body: unknown): ChanceMessage {
  if (!isObject(body)) return bad('', expected('an object', body));
  const { t, e, o, d, r } = body;
  const eventId = typeof e === 'string' ? e : null;
  if (typeof r === 'string' && r !== '') return { type: 'error', reason: r, eventId };
  if (typeof t !== 'string') return bad('t', expected('a string', t));
  if (e !== undefined && e !== null && typeof e !== 'string') return bad('e', expected('a string', e));
  if (r !== undefined && r !== null && typeof r !== 'string') return bad('r', expected('a string', r));
  const fault = outcomesFault(o);
  if (fault) return fault;
  const marketIds = (o ?? []) as readonly string[];
  switch (t) {
    case 'probability':
      return decodePointsOf('probability', eventId, marketIds, d);
    case 'UPDATE_HISTORY':
      return decodePointsOf('aggregated', eventId, marketIds, d);
    case 'HISTORY_RESPONSE':
      return decodeHistory(eventId, d);
    case 'success':
      return { type: 'success', message: messageOf(d), eventId, marketIds };
    case 'PING':
      return { type: 'ping' };
    case 'error':
    case 'ERROR':
      return { type: 'error', reason: messageOf(d), eventId };
    default:
      return { type: 'unknown', wireType: t, eventId };
  }
}

function outcomesFault(o: unknown): ChanceMessage | undefined {
  const parsed = chanceEnvelopeSchema.shape.o.safeParse(o);
  if (parsed.success) return undefined;
  const { path, reason } = explainIssue(parsed.error, o, 'o');
  return bad(path, reason);
}

function messageOf(d: unknown): string {
  if (typeof d === 'string') return d;
  const text = isObject(d) ? (d['message'] ?? d['error']) : undefined;
  return typeof text === 'string' ? text : '';
}

/** Outcome IDs are never `t` or `p`, so an object with a scalar under one of them is a point and not a map. */
const isPoint = (d: JsonObject): boolean =>
  (Object.hasOwn(d, 't') && !isObject(d['t'])) || (Object.hasOwn(d, 'p') && !isObject(d['p']));

function decodePointsOf(
  type: 'probability' | 'aggregated',
  eventId: string | null,
  marketIds: readonly string[],
  d: unknown,
): ChanceMessage {
  if (!isObject(d)) return bad('d', expected('a point, or a map of points', d));
  const points: MarketPoint[] = [];
  const badEntries = new InvalidEntries();
  const take = (marketId: string, value: unknown, index: number, path?: string) => {
    const point = pointOf(value);
    if (point) points.push({ marketId, time: point.time, probability: point.probability });
    else if (!badEntries.countIfFull()) badEntries.push(badPoint(value, index, path ?? joinJsonPath('d', marketId)));
  };
  if (isPoint(d)) {
    const [marketId, second] = marketIds;
    if (marketId === undefined || second !== undefined) {
      return bad('o', `expected the one outcome that the point belongs to, got ${marketIds.length}`);
    }
    take(marketId, d, 0, 'd');
    return {
      type,
      initial: false,
      eventId,
      points,
      invalidEntries: badEntries.entries,
      invalidEntriesOmitted: badEntries.omitted,
    };
  }
  for (const [index, marketId] of Object.keys(d).entries()) take(marketId, d[marketId], index);
  return {
    type,
    initial: true,
    eventId,
    points,
    invalidEntries: badEntries.entries,
    invalidEntriesOmitted: badEntries.omitted,
  };
}

function decodeHistory(eventId: string | null, d: unknown): ChanceMessage {
  if (!isObject(d)) return bad('d', expected('a map from outcome to points', d));
  const series: MarketHistory[] = [];
  const badEntries = new InvalidEntries();
  for (const [index, marketId] of Object.keys(d).entries()) {
    const value = d[marketId];
    if (Array.isArray(value)) {
      series.push({ marketId, points: decodePoints(value, joinJsonPath('d', marketId), badEntries) });
    } else if (!badEntries.countIfFull()) {
      const path = joinJsonPath('d', marketId);
      badEntries.push({ index, path, reason: expected('a list of points', value), value });
    }
  }
  return {
    type: 'history',
    eventId,
    series,
    invalidEntries: badEntries.entries,
    invalidEntriesOmitted: badEntries.omitted,
  };
}

const bad = (path: string, reason: string): ChanceMessage => ({ type: 'invalid', ...invalid(path, reason) });
