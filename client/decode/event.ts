import type { z } from 'zod';
import { eventSchema, outcomeSchema, runnerMarketSchema, runnerSchema } from '../wire/event-search.js';
import { explainIssue, joinJsonPath } from '../wire/validation-issue.js';
import { decodeList, type ListSink } from './list.js';
import { type DecodedList, type InvalidBody, isObject, numberOrNull, textOrNull } from './result.js';

/** A market of an event. Absent fields are null. */
export interface Market {
  readonly marketId: string;
  readonly name: string | null;
  readonly yesAssetId: string | null;
  readonly noAssetId: string | null;
  /** Prices of the assets in event search, 0 to 1. */
  readonly yesPrice: number | null;
  readonly noPrice: number | null;
}

/** An event of event search. Absent fields are null; fields beyond ID, title and markets are not documented. */
export interface Event {
  readonly eventId: string;
  readonly title: string | null;
  readonly slug: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  /** USDC. */
  readonly volume24h: number | null;
  readonly totalVolume: number | null;
  readonly liquidity: number | null;
  /** ISO 8601, as sent. */
  readonly createdAt: string | null;
  readonly closesAt: string | null;
  readonly markets: readonly Market[];
}

/**
 * Decodes a page of event search, part 4.5. An event may have `id,title,outcomes`, or `i,ti,ma`, or both: they are merged by
 * market. An invalid market is an invalid entry with its event's index; the event remains valid.
 */
export function decodeEventPage(body: unknown): DecodedList<Event> | InvalidBody {
  return decodeList<Event>(body, takeEvent);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Sink = Pick<ListSink<Event>, 'invalid' | 'extra'>;

function takeEvent(value: unknown, index: number, path: string, sink: ListSink<Event>): void {
  const wire = parsedEntry(eventSchema, value, index, path, sink);
  if (!wire) return;
  const eventId = wire.id ?? wire.i;
  if (eventId === undefined || eventId === null) {
    sink.invalid.push({
      index,
      path: joinJsonPath(path, 'id'),
      reason: 'expected an event ID in id or i, got nothing',
      value,
    });
    return;
  }
  if (wire.id && wire.i && wire.id !== wire.i) {
    sink.invalid.push({ index, path: joinJsonPath(path, 'i'), reason: 'id and i name different events', value });
    return;
  }
  sink.extra.add(wire, eventSchema.shape);
  const markets = new Map<string, Mutable<Market>>();
  for (const [n, outcome] of (wire.outcomes ?? []).entries()) {
    if (!sink.invalid.skips(outcome)) takeOutcome(outcome, index, `${path}.outcomes[${n}]`, markets, sink);
  }
  for (const [n, market] of (wire.ma ?? []).entries()) {
    if (!sink.invalid.skips(market)) takeRunners(market, index, `${path}.ma[${n}]`, markets, sink);
  }
  sink.items.push({
    eventId,
    title: wire.title ?? wire.ti ?? null,
    slug: textOrNull(wire['slug']),
    category: nameOf(wire['category']),
    tags: Array.isArray(wire['tags']) ? wire['tags'].map(nameOf).filter((tag) => tag !== null) : [],
    volume24h: numberOrNull(wire['volume24h']),
    totalVolume: numberOrNull(wire['totalVolume']),
    liquidity: numberOrNull(wire['liquidity']),
    createdAt: textOrNull(wire['createdAt']),
    closesAt: textOrNull(wire['closesAt']),
    markets: [...markets.values()],
  });
}

/** Parses a value with a schema; when it is invalid, adds an invalid entry with its event's index and returns undefined. */
function parsedEntry<T>(schema: z.ZodType<T>, value: unknown, index: number, path: string, sink: Sink): T | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  sink.invalid.push({ index, ...explainIssue(parsed.error, value, path), value });
  return undefined;
}

/** A category or tag as text, or as an object of the category or tag lists. */
function nameOf(value: unknown): string | null {
  return isObject(value) ? textOrNull(value['s'] ?? value['n'] ?? value['slug'] ?? value['name']) : textOrNull(value);
}

function marketAt(markets: Map<string, Mutable<Market>>, marketId: string): Mutable<Market> {
  const known = markets.get(marketId);
  if (known) return known;
  const market = { marketId, name: null, yesAssetId: null, noAssetId: null, yesPrice: null, noPrice: null };
  markets.set(marketId, market);
  return market;
}

function takeOutcome(
  value: unknown,
  index: number,
  path: string,
  markets: Map<string, Mutable<Market>>,
  sink: Sink,
): void {
  const outcome = parsedEntry(outcomeSchema, value, index, path, sink);
  if (!outcome) return;
  sink.extra.add(outcome, outcomeSchema.shape, 'outcomes.');
  const market = marketAt(markets, outcome.marketId);
  market.yesAssetId = outcome.yesId ?? market.yesAssetId;
  market.noAssetId = outcome.noId ?? market.noAssetId;
  market.name = textOrNull(outcome['name']) ?? market.name;
}

function takeRunners(
  value: unknown,
  index: number,
  path: string,
  markets: Map<string, Mutable<Market>>,
  sink: Sink,
): void {
  const wire = parsedEntry(runnerMarketSchema, value, index, path, sink);
  if (!wire) return;
  sink.extra.add(wire, runnerMarketSchema.shape, 'ma.');
  const market = marketAt(markets, wire.i);
  market.name ??= textOrNull(wire['n'] ?? wire['name']);
  for (const [n, runner] of (wire.r ?? []).entries()) {
    if (sink.invalid.skips(runner)) continue;
    takeRunner(runner, index, `${path}.r[${n}]`, market, sink);
  }
}

function takeRunner(value: unknown, index: number, path: string, market: Mutable<Market>, sink: Sink): void {
  const wire = parsedEntry(runnerSchema, value, index, path, sink);
  if (!wire) return;
  sink.extra.add(wire, runnerSchema.shape, 'ma.r.');
  const { i: assetId, ip, p } = wire;
  // Without the flag, only the other form (`yesId`, `noId`) determines the side of the asset.
  const primary = ip ?? (assetId === market.yesAssetId ? true : assetId === market.noAssetId ? false : undefined);
  if (primary === undefined) {
    const reason = 'expected a boolean that tells YES from NO, got nothing';
    sink.invalid.push({ index, path: joinJsonPath(path, 'ip'), reason, value });
    return;
  }
  const known = primary ? market.yesAssetId : market.noAssetId;
  if (known !== null && known !== assetId) {
    const side = primary ? 'YES' : 'NO';
    const reason = `is another ${side} asset than ${known}, named before`;
    sink.invalid.push({ index, path: joinJsonPath(path, 'i'), reason, value });
    return;
  }
  if (primary) {
    market.yesAssetId = assetId;
    market.yesPrice = p ?? market.yesPrice;
  } else {
    market.noAssetId = assetId;
    market.noPrice = p ?? market.noPrice;
  }
}
