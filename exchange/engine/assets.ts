import type { Outcome } from './types.js';

/** Asset numbers of a market: YES is even, NO odd. */
export const assetOf = (market: number, outcome: Outcome): number => market * 2 + (outcome === 'YES' ? 0 : 1);
export const marketOfAsset = (asset: number): number => asset >>> 1;
export const outcomeOfAsset = (asset: number): Outcome => (asset % 2 === 0 ? 'YES' : 'NO');

/** Converts a price of an outcome asset into YES terms; the same function converts it back. */
export const inYesTerms = (outcome: Outcome, price: number): number => (outcome === 'YES' ? price : 100 - price);
