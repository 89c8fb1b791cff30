import type { Outcome } from './types.js';

/** Numbers of a market's assets: YES is even, NO odd. */
export const assetOf = (market: number, outcome: Outcome): number => market * 2 + (outcome === 'YES' ? 0 : 1);
export const marketOfAsset = (asset: number): number => asset >>> 1;
export const outcomeOfAsset = (asset: number): Outcome => (asset % 2 === 0 ? 'YES' : 'NO');

/** The price in YES terms that makes `price` of an outcome, and back. */
export const inYesTerms = (outcome: Outcome, price: number): number => (outcome === 'YES' ? price : 100 - price);
