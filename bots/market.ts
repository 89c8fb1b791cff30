export type Outcome = 'YES' | 'NO';

/** The public prices of an open market, in cents. The object is updated in place. */
export interface Quote {
  readonly eventId: string;
  readonly marketId: string;
  readonly yesAssetId: string;
  readonly noAssetId: string;
  /** Last trade price for YES, or the opening chance; not always a whole cent. */
  readonly last: number;
  /** 0 when there is no bid. */
  readonly bid: number;
  /** 100 when there is no ask. */
  readonly ask: number;
  /** Relative weight of its trading, compared with other markets. */
  readonly attention: number;
}

/** Prices of all open markets, from the public stream. */
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

/** Maximum spread of a quoted market, cents. A wider one means that the makers have not quoted yet, or were just taken. */
const WIDEST = 15;

/**
 * Whether a market has a tradable price. An empty side counts as a bid of 0 or an ask of 100, so a market whose chance is
 * near 0 or 1 may have one.
 */
export const isQuoted = ({ bid, ask }: Quote): boolean => ask - bid <= WIDEST;

/** The best ask of an outcome, cents; 100 when there is none. */
export const askOf = ({ bid, ask }: Quote, outcome: Outcome): number => (outcome === 'YES' ? ask : 100 - bid);

/** The behaviour of a bot. */
export interface Strategy {
  /** Trades once; returns the delay before its next turn, milliseconds at pace 1. */
  act(): Promise<number>;
}
