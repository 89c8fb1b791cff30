import type { Outcome, Side } from '../engine/index.js';

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
  /** 100 when nobody asks. */
  readonly ask: number;
  /** How much traders care about it, in comparison with others. */
  readonly attention: number;
}

/** Prices of all open markets, as the public streams tell them. */
export interface Quotes {
  /** Open markets; the order does not change while a market is open. */
  readonly markets: readonly Quote[];
  of(marketId: string): Quote | undefined;
}

export interface OpenOrder {
  readonly orderId: string;
  readonly outcome: Outcome;
  readonly side: Side;
  /** Of its own asset, cents. */
  readonly price: number;
}

/** How a bot trades: one account's calls, and nothing that another account could not do. */
export interface OrderGateway {
  /** The order's ID; undefined when it was refused. Price in cents, quantity in hundredths of a share. */
  limit(market: Quote, outcome: Outcome, side: Side, price: number, quantity: number): Promise<string | undefined>;
  /** Spends up to an amount (micros); whether it was accepted. */
  buy(market: Quote, outcome: Outcome, amountMicros: number): Promise<boolean>;
  /** Sells up to a quantity (hundredths) at market; whether it was accepted. */
  sell(market: Quote, outcome: Outcome, quantity: number): Promise<boolean>;
  /** Whether it was still open. */
  cancel(orderId: string): Promise<boolean>;
  /** Of one market, or of all, oldest first. */
  openOrders(marketId?: string): Promise<readonly OpenOrder[]>;
  /** Hundredths of a share that no order holds. */
  freeShares(market: Quote, outcome: Outcome): Promise<number>;
}

/** What a bot does when it is its turn. */
export interface Strategy {
  /** Answers how long it wants to wait before its next turn, milliseconds at pace 1. */
  act(): Promise<number>;
}
