import { type Comparison, notCompared } from '../comparison.js';
import { unlistedOf } from '../unlisted.js';
import { BookPrices, Observed } from './book-prices.js';
import { accountAssets } from './books.js';
import { compareAverages } from './compare-averages.js';
import { compareBooks } from './compare-books.js';
import { compareChanceCandles } from './compare-chances.js';
import { compareChanges } from './compare-changes.js';
import { compareFills } from './compare-fills.js';
import { compareOrderFlow } from './compare-order-flow.js';
import { compareProfits } from './compare-profits.js';
import { compareTrades } from './compare-trades.js';
import { type FiguresInput, type Recording, timesOf } from './input.js';

/**
 * Compares the views that compute figures with the same figures from the ledger, and from the times at which its changes were
 * received.
 */
export function compareFigures(recording: Recording): Comparison[] {
  const { ledger, accounts, streams, shown } = recording;
  const input: FiguresInput = {
    ...recording,
    prices: new BookPrices(shown),
    observed: new Observed(streams.observed),
    gaps: streams.gaps,
    assets: accountAssets(ledger, accounts.names),
    unlisted: unlistedOf(ledger, accounts),
    events: new Map(ledger.markets.map(({ marketId, eventId }) => [marketId, eventId])),
    openingChances: new Map(ledger.markets.map(({ marketId, openingChance }) => [marketId, openingChance])),
    times: timesOf(recording),
  };
  const ofAccounts = [
    ...compareProfits(input),
    ...compareOrderFlow(input),
    ...compareFills(input),
    ...compareTrades(input),
  ];
  return [
    ...(accounts.names.size > 0
      ? ofAccounts
      : ofAccounts.map(({ name }) => notCompared(name, 'no account is recorded, and the activity feed needs one'))),
    ...compareAverages(input),
    compareChanceCandles(input),
    ...compareBooks(input),
    ...compareChanges(input),
  ];
}
