export type Outcome = 'YES' | 'NO';

/** What anybody can see of an open market, as it is now: it changes while it is held. Prices in cents. */
export interface Quote {
  readonly eventId: string;
  readonly marketId: string;
  readonly yesAssetId: string;
  readonly noAssetId: string;
  /** Last trade price for YES, or what the market opened with; not always a whole cent. */
  readonly last: number;
  /** 0 when nobody bids. */
  readonly bid: number;
  /** 100 when there is no ask. */
  readonly ask: number;
  /** How much traders care about it, in comparison with others. */
  readonly attention: number;
}

/** Prices of all open markets, as the public stream tells them. */
export interface Quotes {
  /** Open markets with known prices; the order does not change while a market is open. */
  readonly markets: readonly Quote[];
  of(marketId: string): Quote | undefined;
  /** The open market that an outcome asset belongs to. */
  ofAsset(assetId: string): Quote | undefined;
}

export const otherOutcome = (outcome: Outcome): Outcome => (outcome === 'YES' ? 'NO' : 'YES');

export const assetOf = (market: Quote, outcome: Outcome): string =>
  outcome === 'YES' ? market.yesAssetId : market.noAssetId;

/** A spread wider than this is no price, cents: the makers are not there yet, or somebody took what they offered. */
const WIDEST = 15;

/**
 * Whether a market has a price that one can trade at. An empty side is as far as a price can be, so that a market whose
 * chance is near 0 or 1 may do without it.
 */
export const isQuoted = ({ bid, ask }: Quote): boolean => ask - bid <= WIDEST;

/** What an outcome costs at once, cents: nobody offers it at 100. */
export const askOf = ({ bid, ask }: Quote, outcome: Outcome): number => (outcome === 'YES' ? ask : 100 - bid);

/** What a bot does when it is its turn. */
export interface Strategy {
  /** Answers how long it wants to wait before its next turn, milliseconds at pace 1. */
  act(): Promise<number>;
}
