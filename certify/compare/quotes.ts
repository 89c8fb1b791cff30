import { groupBy } from '../../core/index.js';
import { CLOCK_MICROS, firstAfter } from '../align.js';
import { type Comparison, Differences } from '../comparison.js';
import type { LedgerPrice, UsedFault } from '../truth.js';
import type { ShownPrice } from './prices.js';
import { isNear, REORDERED, reordersOf } from './reordered.js';

/** The quote of a trade. */
interface RecordedQuote {
  readonly market: string;
  /** The moment for which it stands, Unix microseconds. */
  readonly moment: number;
  readonly mid: number;
}

interface QuoteInput {
  readonly prices: readonly LedgerPrice[];
  /** As in `MatchedPrices`. */
  readonly shown: ReadonlyMap<string, readonly ShownPrice[]>;
  readonly quotes: readonly RecordedQuote[];
  readonly faults: readonly UsedFault[];
}

const RECEIVED_LATER = 'another quote: the last change before that moment was received after it';
const NOT_RECEIVED = 'another quote: the last change before that moment was not received';
/** Half a cent is the smallest difference of two mids. */
const EPSILON = 1e-9;

/**
 * Compares the quotes of trades with the mids that the exchange had at these moments. A quote is the last one received by then, so it
 * may be another one: where the change was on its way, or was not received. That is explained, and its share is that of `explained`.
 */
export function compareQuotes({ prices, shown, quotes, faults }: QuoteInput): Comparison {
  const differences = new Differences('quotes of trades');
  const states = groupBy(prices, ({ marketId }) => marketId);
  const reorders = reordersOf(faults, 'order-book');
  let equal = 0;
  for (const [market, ofMarket] of groupBy(quotes, (quote) => quote.market)) {
    const own = states.get(market) ?? [];
    const receipts = firstReceipts(shown.get(market) ?? []);
    const isReordered = (at: number) =>
      reorders.get(own[0]?.eventId ?? '')?.some((fault) => isNear(fault, at)) ?? false;
    for (const { moment, mid } of ofMarket) {
      const last = firstAfter(own, ({ at }) => at > moment) - 1;
      if (isMid(own[last], mid)) {
        equal += 1;
        continue;
      }
      const by = whyDifferent(own, last, { moment, mid }, receipts) ?? (isReordered(moment) ? REORDERED : undefined);
      if (by === undefined) differences.add(`market ${market}, ${moment}: mid ${mid}, expected ${midOf(own[last])}`);
      else differences.explain(by);
    }
  }
  return differences.result(quotes.length, equal);
}

/** Why an older mid was the last one received; undefined when it was not. */
function whyDifferent(
  own: readonly LedgerPrice[],
  last: number,
  { moment, mid }: Pick<RecordedQuote, 'moment' | 'mid'>,
  receipts: ReadonlyMap<ShownPrice['price'], number>,
): string | undefined {
  const next = own[last + 1];
  if (next !== undefined && next.at <= moment + CLOCK_MICROS && isMid(next, mid)) return RECEIVED_LATER;
  let why: string | undefined = NOT_RECEIVED;
  for (let index = last; index >= 0; index--) {
    if (isMid(own[index], mid)) return why;
    const receivedAt = receipts.get(own[index] as LedgerPrice);
    if (receivedAt === undefined) continue;
    if (receivedAt <= moment) return undefined;
    why = RECEIVED_LATER;
  }
  return undefined;
}

/** When each state of the ledger was first received. */
function firstReceipts(shown: readonly ShownPrice[]): ReadonlyMap<ShownPrice['price'], number> {
  const first = new Map<ShownPrice['price'], number>();
  for (const { price, receivedAt } of shown) {
    first.set(price, Math.min(receivedAt, first.get(price) ?? Number.POSITIVE_INFINITY));
  }
  return first;
}

/** The mid of a book that has both sides; else undefined. */
const midOf = (price: Pick<LedgerPrice, 'b' | 'a'> | undefined): number | undefined =>
  price === undefined || price.b === 0 || price.a === 1 ? undefined : (price.b + price.a) / 2;

function isMid(price: LedgerPrice | undefined, mid: number): boolean {
  const expected = midOf(price);
  return expected !== undefined && Math.abs(expected - mid) < EPSILON;
}
