import type { Outcome } from './types.js';

/* Responses of `/_control/truth`: decimals, IDs, times in Unix micros. */

export type FillKind = 'transfer' | 'mint' | 'merge';

/** A row of `/_control/truth/prices`. */
export interface TruthPrice {
  readonly seq: number;
  readonly eventId: string;
  readonly marketId: string;
  readonly c: number;
  readonly b: number;
  readonly a: number;
  readonly at: number;
}

/** A row of `/_control/truth/trades`: decimals (price 0..1, quantity in shares, fee in USDC). */
export interface TruthTrade {
  readonly seq: number;
  readonly tradeId: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly assetId: string;
  readonly price: number;
  readonly quantity: number;
  readonly takerFee: number;
  readonly taker: 'buyer' | 'seller';
  readonly buyOrderId: string;
  readonly sellOrderId: string;
  readonly buyer: string;
  readonly seller: string;
  readonly kind: FillKind;
  readonly at: number;
}

/** The response of `/_control/truth`: decimals (USDC, shares). */
export interface Truth {
  readonly accounts: readonly {
    readonly userId: string;
    readonly usdc: number;
    readonly locked: number;
    readonly positions: readonly { readonly assetId: string; readonly shares: number; readonly cost: number }[];
    readonly realisedPnl: number;
    readonly feesPaid: number;
  }[];
  readonly markets: readonly {
    readonly marketId: string;
    readonly eventId: string;
    readonly assets: { readonly yes: string; readonly no: string };
    /** Its chance until the first trade. */
    readonly openingChance: number;
    readonly shares: { readonly yes: number; readonly no: number };
    readonly volume: number;
    readonly trades: number;
    readonly resolved: Outcome | null;
  }[];
  readonly identity: {
    readonly deposits: number;
    readonly withdrawals: number;
    readonly free: number;
    readonly locked: number;
    readonly backing: number;
    readonly fees: number;
    readonly balanced: boolean;
  };
}
