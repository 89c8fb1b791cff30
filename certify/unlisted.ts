import { type Comparison, compareRows, type KeyedRow } from './comparison.js';
import type { RecordedAccounts } from './recorded.js';
import type { Ledger } from './truth.js';

/**
 * What closed before recording began: event search never listed it. Histories name its markets, and of trades its assets, but
 * which market an asset belongs to, which event a market belongs to, and how it was resolved is known from event search alone.
 */
export interface Unlisted {
  readonly markets: ReadonlySet<string>;
  readonly assets: ReadonlySet<string>;
  readonly events: ReadonlySet<string>;
}

export function unlistedOf({ markets }: Ledger, { listedMarkets }: RecordedAccounts): Unlisted {
  const unlisted = markets.filter(({ marketId }) => !listedMarkets.has(marketId));
  return {
    markets: new Set(unlisted.map(({ marketId }) => marketId)),
    assets: new Set(unlisted.flatMap(({ assets }) => [assets.yes, assets.no])),
    events: new Set(unlisted.map(({ eventId }) => eventId)),
  };
}

/** Compares the rows that are not left out; how many are, of both sides together, is stated with the reason. */
export function compareListed(
  name: string,
  expected: readonly KeyedRow[],
  found: readonly KeyedRow[],
  isLeftOut: (key: string) => boolean,
  why: string,
): Comparison {
  const kept = (rows: readonly KeyedRow[]) => rows.filter(([key]) => !isLeftOut(key));
  const compared = compareRows(name, kept(expected), kept(found));
  const leftOut = new Set([...expected, ...found].map(([key]) => key).filter(isLeftOut)).size;
  return leftOut === 0 ? compared : { ...compared, notCompared: `${leftOut} rows: ${why}` };
}
