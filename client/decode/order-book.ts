import type { z } from 'zod';
import { orderBookEnvelopeSchema, priceEntrySchema, pricesMessageSchema } from '../wire/order-book-stream.js';
import {
  type InvalidBody,
  InvalidEntries,
  type InvalidEntry,
  invalid,
  invalidEntry,
  isObject,
  issueOf,
  type JsonObject,
  NO_INVALID_ENTRIES,
} from './result.js';

/** The prices of one market, in YES terms, exactly as in the JSON: 0 to 1. */
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
      /** The first 100 invalid entries. */
      readonly invalidEntries: readonly InvalidEntry[];
      /** Number of invalid entries beyond the first 100. */
      readonly invalidEntriesOmitted: number;
    }
  | { readonly type: 'subscribed' | 'unsubscribed'; readonly eventId: string | null }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly reason: string; readonly eventId: string | null }
  | { readonly type: 'unknown'; readonly wireType: string; readonly eventId: string | null }
  | (InvalidBody & { readonly type: 'invalid' });

/**
 * Decodes a parsed frame of the order book stream. Never throws. An invalid entry does not affect the others. Valid entries
 * are read without their schema, which is slower (`npm run bench -- client-decode`, figures in docs/performance.md); the
 * reasons of invalid ones come from the schema.
 */
export function decodeOrderBookMessage(body: unknown): OrderBookMessage {
  if (isObject(body)) {
    const { t, e, d } = body;
    if (t === 'PRICES_DATA_DELTA' || t === 'PRICES_DATA') {
      if (typeof e === 'string' && e !== '' && Array.isArray(d)) return decodePrices(t === 'PRICES_DATA', e, d);
      return bad(pricesMessageSchema, body);
    }
    if ((t === undefined || t === null) && typeof body['r'] === 'string' && body['r'] !== '') {
      return { type: 'error', reason: body['r'], eventId: typeof e === 'string' ? e : null };
    }
  }
  return decodeControl(body);
}

function decodePrices(snapshot: boolean, eventId: string, list: readonly unknown[]): OrderBookMessage {
  const prices: PriceEntry[] = [];
  let badEntries: InvalidEntries | undefined;
  for (let index = 0; index < list.length; index++) {
    const entry = list[index];
    const price = isObject(entry) ? priceOf(entry) : undefined;
    if (price) {
      prices.push(price);
    } else {
      badEntries ??= new InvalidEntries();
      if (!badEntries.countIfFull()) badEntries.push(invalidEntry(priceEntrySchema, entry, index, `d[${index}]`));
    }
  }
  return {
    type: 'prices',
    snapshot,
    eventId,
    prices,
    invalidEntries: badEntries?.entries ?? NO_INVALID_ENTRIES,
    invalidEntriesOmitted: badEntries?.omitted ?? 0,
  };
}

/** The prices of a valid entry. Accepts exactly what `priceEntrySchema` accepts. */
function priceOf(entry: JsonObject): PriceEntry | undefined {
  const marketId = entry['o'];
  const chance = entry['c'];
  const bestBid = entry['b'];
  const bestAsk = entry['a'];
  // Comparisons with NaN are false, and the bound excludes infinity, so this also requires finite numbers.
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

function decodeControl(body: unknown): OrderBookMessage {
  const parsed = orderBookEnvelopeSchema.safeParse(body);
  if (!parsed.success) return bad(orderBookEnvelopeSchema, body);
  const { t, e, r } = parsed.data;
  const eventId = e ?? null;
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

function bad(schema: z.ZodType, body: unknown): OrderBookMessage {
  const { path, reason } = issueOf(schema, body);
  return { type: 'invalid', ...invalid(path, reason) };
}
