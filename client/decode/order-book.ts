import { expected } from '../wire/validation-issue.js';
import {
  type InvalidBody,
  InvalidEntries,
  type InvalidEntry,
  idIssue,
  invalid,
  isObject,
  type JsonObject,
  NO_BAD,
  rangeIssue,
} from './result.js';

/** The prices of one market, in YES terms, exactly as JSON held them: 0 to 1. */
export interface PriceEntry {
  readonly marketId: string;
  /** Price of the last trade. */
  readonly chance: number;
  readonly bestBid: number;
  readonly bestAsk: number;
}

/** A message of the order book stream, part 6.1. */
export type OrderBookMessage =
  | {
      readonly type: 'prices';
      /** True for PRICES_DATA (all outcomes of the event), false for PRICES_DATA_DELTA (those that changed). */
      readonly snapshot: boolean;
      readonly eventId: string;
      readonly prices: readonly PriceEntry[];
      /** The first 100 of what was not understood. */
      readonly invalidEntries: readonly InvalidEntry[];
      /** How many more were not understood. */
      readonly invalidEntriesOmitted: number;
    }
  | { readonly type: 'subscribed' | 'unsubscribed'; readonly eventId: string | null }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly reason: string; readonly eventId: string | null }
  | { readonly type: 'unknown'; readonly wireType: string; readonly eventId: string | null }
  | (InvalidBody & { readonly type: 'invalid' });

/**
 * A parsed frame of the order book stream as a message. Never throws. One bad entry leaves the others as they are.
 * Written by hand for speed; its verdicts and words are those of `pricesMessageSchema` and `priceEntrySchema`.
 */
export function decodeOrderBookMessage(body: unknown): OrderBookMessage {
  if (!isObject(body)) return bad('', expected('an object', body));
  const t = body['t'];
  if (t === 'PRICES_DATA_DELTA' || t === 'PRICES_DATA') return decodePrices(body, t === 'PRICES_DATA');
  return decodeControl(body, t);
}

function decodePrices(body: JsonObject, snapshot: boolean): OrderBookMessage {
  const eventId = body['e'];
  if (typeof eventId !== 'string' || eventId === '') return bad('e', idIssue(eventId) ?? '');
  const list = body['d'];
  if (!Array.isArray(list)) return bad('d', expected('an array', list));
  const prices: PriceEntry[] = [];
  let badEntries: InvalidEntries | undefined;
  for (let index = 0; index < list.length; index++) {
    const entry: unknown = list[index];
    const price = isObject(entry) ? priceOf(entry) : undefined;
    if (price) {
      prices.push(price);
    } else {
      badEntries ??= new InvalidEntries();
      if (!badEntries.countIfFull()) badEntries.push(badPrice(entry, index));
    }
  }
  return {
    type: 'prices',
    snapshot,
    eventId,
    prices,
    invalidEntries: badEntries?.entries ?? NO_BAD,
    invalidEntriesOmitted: badEntries?.beyond ?? 0,
  };
}

function priceOf(entry: JsonObject): PriceEntry | undefined {
  const marketId = entry['o'];
  const chance = entry['c'];
  const bestBid = entry['b'];
  const bestAsk = entry['a'];
  // Comparisons with NaN are false, and nothing above 1 passes, so this also demands finite numbers.
  return typeof marketId === 'string' &&
    marketId !== '' &&
    typeof chance === 'number' &&
    chance >= 0 &&
    chance <= 1 &&
    typeof bestBid === 'number' &&
    bestBid >= 0 &&
    bestBid <= 1 &&
    typeof bestAsk === 'number' &&
    bestAsk >= 0 &&
    bestAsk <= 1
    ? { marketId, chance, bestBid, bestAsk }
    : undefined;
}

function badPrice(entry: unknown, index: number): InvalidEntry {
  const at = `d[${index}]`;
  if (!isObject(entry)) return { index, path: at, reason: expected('an object', entry), value: entry };
  const noId = idIssue(entry['o']);
  if (noId) return { index, path: `${at}.o`, reason: noId, value: entry };
  for (const key of ['c', 'b', 'a']) {
    const reason = rangeIssue(entry[key], 1);
    if (reason) return { index, path: `${at}.${key}`, reason, value: entry };
  }
  return { index, path: at, reason: 'is not as expected', value: entry };
}

function decodeControl(body: JsonObject, t: unknown): OrderBookMessage {
  const { e, r } = body;
  const eventId = typeof e === 'string' ? e : null;
  if (t === undefined || t === null) {
    return typeof r === 'string' && r !== ''
      ? { type: 'error', reason: r, eventId }
      : bad('t', expected('a string', t));
  }
  if (typeof t !== 'string') return bad('t', expected('a string', t));
  if (e !== undefined && e !== null && typeof e !== 'string') return bad('e', expected('a string', e));
  if (r !== undefined && r !== null && typeof r !== 'string') return bad('r', expected('a string', r));
  switch (t) {
    case 'SUBSCRIBED':
      return { type: 'subscribed', eventId };
    case 'UNSUBSCRIBED':
      return { type: 'unsubscribed', eventId };
    case 'PING':
      return { type: 'ping' };
    case 'ERROR':
      return { type: 'error', reason: r ?? '', eventId };
    default:
      return r ? { type: 'error', reason: r, eventId } : { type: 'unknown', wireType: t, eventId };
  }
}

const bad = (path: string, reason: string): OrderBookMessage => ({ type: 'invalid', ...invalid(path, reason) });
