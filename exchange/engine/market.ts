import type { Series } from '../store/index.js';
import { Book } from './book.js';
import type { Tpsl } from './tpsl.js';
import type { Outcome } from './types.js';
import { DayVolume } from './volume.js';

/** Numbers of a market's assets: YES is even, NO odd. */
export const assetOf = (market: number, outcome: Outcome): number => market * 2 + (outcome === 'YES' ? 0 : 1);
export const marketOfAsset = (asset: number): number => asset >>> 1;
export const outcomeOfAsset = (asset: number): Outcome => (asset % 2 === 0 ? 'YES' : 'NO');

/** The price in YES terms that makes `price` of an outcome, and back. */
export const inYesTerms = (outcome: Outcome, price: number): number => (outcome === 'YES' ? price : 100 - price);

export class Market {
  book = new Book();
  readonly volume = new DayVolume();
  /** Last trade price for YES, cents; undefined before the first trade. */
  lastPrice: number | undefined;
  resolved: { readonly winner: Outcome; readonly at: number } | undefined;
  trades = 0;
  yesShares = 0;
  noShares = 0;
  /** Price times quantity of its resting orders, micros. */
  liquidity = 0;
  /** Active take-profit and stop-loss orders, oldest first. */
  readonly tpsl = new Map<number, Tpsl>();
  /** What was last published. */
  published: { chance: number; bestBid: number; bestAsk: number };

  constructor(
    readonly number: number,
    readonly event: MarketEvent,
    readonly marketId: string,
    readonly yesAssetId: string,
    readonly noAssetId: string,
    readonly name: string,
    readonly openedAt: number,
    /** 0..1 */
    readonly openingChance: number,
    /** Raw chance points: second, chance. */
    readonly chances: Series,
  ) {
    this.published = { chance: openingChance, bestBid: 0, bestAsk: 100 };
  }

  /** 0..1 */
  get chance(): number {
    if (this.resolved) return this.resolved.winner === 'YES' ? 1 : 0;
    return this.lastPrice === undefined ? this.openingChance : this.lastPrice / 100;
  }

  assetId(outcome: Outcome): string {
    return outcome === 'YES' ? this.yesAssetId : this.noAssetId;
  }
}

export class MarketEvent {
  readonly markets: Market[] = [];

  constructor(
    readonly number: number,
    readonly eventId: string,
    readonly title: string,
    readonly slug: string,
    readonly category: string,
    readonly tags: readonly string[],
    readonly featured: boolean,
    readonly createdAt: number,
    readonly closesAt: number,
  ) {}

  get open(): boolean {
    return this.markets.some((market) => !market.resolved);
  }
}
