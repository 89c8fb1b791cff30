/*
 * The types that the core shares with the server and the simulation. Units in this folder: USDC in integer micros
 * (millionths), prices in integer cents 1..99, quantities in integer hundredths of a share, times in Unix micros. Where a
 * value is a decimal (`chance`, rows of the truth), its docstring says so.
 */

export type Outcome = 'YES' | 'NO';
export type Side = 'BUY' | 'SELL';
export type OrderType = 'LIMIT' | 'MARKET';
export type OrderStatus = 'ACTIVE' | 'FILLED' | 'CANCELLED' | 'FAILED';
/** In the order of their numbers in stored records. */
export const TPSL_STATUSES = ['ACTIVE', 'TRIGGERED', 'CANCELLED', 'FAILED'] as const;
export type TpslStatus = (typeof TPSL_STATUSES)[number];
export type TransactionType = 'DEPOSIT' | 'WITHDRAWAL' | 'PAYOUT';

/** A snapshot of a market; it does not change afterwards. */
export interface MarketView {
  readonly marketId: string;
  readonly eventId: string;
  readonly name: string;
  readonly yesAssetId: string;
  readonly noAssetId: string;
  /** 0..1: the last trade price for YES, the opening chance before the first trade, 1 or 0 when resolved. */
  readonly chance: number;
  /** 0..1; 0 when there is no bid. */
  readonly bestBid: number;
  /** 0..1; 1 when there is no ask. */
  readonly bestAsk: number;
  readonly openedAt: number;
  readonly openingChance: number;
  readonly resolved?: { readonly winner: Outcome; readonly at: number };
  readonly volumeMicros: number;
  readonly volume24hMicros: number;
  /** Number of fills so far. */
  readonly trades: number;
  /** Shares that exist, hundredths. `yes` equals `no` until the market is resolved; then both are 0. */
  readonly shares: { readonly yes: number; readonly no: number };
}

/** A snapshot of an event; it does not change afterwards. */
export interface EventView {
  readonly eventId: string;
  readonly title: string;
  readonly slug: string;
  /** Slug of its category. */
  readonly category: string;
  readonly tags: readonly string[];
  readonly featured: boolean;
  readonly createdAt: number;
  /** Announced end; it resolves near that time, not exactly then. */
  readonly closesAt: number;
  readonly markets: readonly MarketView[];
  /** False once every market is resolved. */
  readonly open: boolean;
  readonly volume24hMicros: number;
  readonly totalVolumeMicros: number;
  /** Sum of price × quantity of all resting orders. */
  readonly liquidityMicros: number;
}

/** One change of a market's chance, best bid or best ask (each 0..1). None is omitted or merged. */
export interface PriceChange {
  /** Increases by one over all markets, from 1. */
  readonly seq: number;
  readonly eventId: string;
  readonly marketId: string;
  readonly chance: number;
  readonly bestBid: number;
  readonly bestAsk: number;
  readonly at: number;
}

export interface Category {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly parentId: string | null;
  readonly children: readonly Category[];
}

export interface Tag {
  readonly name: string;
  /** 1 is the most popular: the tag on most open events. */
  readonly rank: number;
}

export interface Coin {
  readonly coinId: string;
  readonly name: string;
  readonly ticker: string;
  readonly usdRate: number;
  readonly usdRateAt: number;
  readonly fullDecimals: number;
  readonly shortDecimals: number;
  readonly status: string;
  readonly system: boolean;
  readonly collateral: boolean;
}

/** One raw point of chance history. */
export interface ChancePoint {
  /** Unix seconds, whole. */
  readonly t: number;
  /** 0..1. */
  readonly p: number;
}

export interface OrderView {
  readonly orderId: string;
  readonly userId: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly assetId: string;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly type: OrderType;
  /** Limit price of the order's own asset, cents; 0 for a market order. */
  readonly price: number;
  /** As placed, hundredths; 0 for a market BUY, which has an amount instead. */
  readonly quantity: number;
  /** The amount that a market BUY may spend, micros; 0 otherwise. */
  readonly amountMicros: number;
  readonly filled: number;
  /** USDC value of the fills, without fees, micros. */
  readonly filledMicros: number;
  readonly status: OrderStatus;
  readonly placedAt: number;
  /** When it became FILLED, CANCELLED or FAILED. */
  readonly finishedAt?: number;
}

export interface OrderUpdate {
  readonly order: OrderView;
  /** One command may cause several updates of an order (placed, then filled). */
  readonly cause: 'placed' | 'filled' | 'cancelled' | 'failed';
  readonly at: number;
}

/** One side of a fill, as its owner's trade history shows it. */
export interface TradeView {
  readonly tradeRecordId: string;
  readonly tradeId: string;
  readonly userId: string;
  readonly orderId: string;
  readonly side: Side;
  readonly eventId: string;
  readonly marketId: string;
  readonly assetId: string;
  readonly outcome: Outcome;
  readonly quantity: number;
  /** Of this side's asset, cents. */
  readonly price: number;
  /** 0 for the maker. */
  readonly feeMicros: number;
  readonly at: number;
}

export interface TransactionView {
  readonly transactionId: string;
  readonly userId: string;
  readonly type: TransactionType;
  /** The USDC coin, or for a PAYOUT the outcome asset. */
  readonly assetId: string;
  /** For a PAYOUT. */
  readonly marketId?: string;
  readonly amountMicros: number;
  readonly status: 'COMPLETED';
  readonly at: number;
}

export interface TpslView {
  readonly tpslId: string;
  readonly userId: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly assetId: string;
  readonly outcome: Outcome;
  readonly quantity: number;
  readonly takeProfit: number | null;
  readonly stopLoss: number | null;
  readonly status: TpslStatus;
  readonly placedAt: number;
  /** The market order it placed, once TRIGGERED. */
  readonly orderId?: string;
}

export interface PositionView {
  readonly assetId: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly outcome: Outcome;
  readonly shares: number;
  /** Shares not locked by SELL orders. */
  readonly freeShares: number;
  readonly costMicros: number;
  readonly openedAt: number;
  /** The order that opened it. */
  readonly orderId: string;
}

export interface AccountView {
  readonly userId: string;
  readonly email: string;
  readonly username: string;
  readonly joinedAt: number;
  readonly usdcMicros: number;
  readonly lockedMicros: number;
  readonly realisedPnlMicros: number;
  readonly feesPaidMicros: number;
  readonly volumeMicros: number;
  readonly marketsTraded: number;
  readonly positions: readonly PositionView[];
  readonly closedPositions: number;
  readonly lastClosedAt: number | null;
}

/** The public fields of an account. */
export interface ProfileView {
  readonly userId: string;
  readonly username: string;
  readonly joinedAt: number;
  readonly volumeMicros: number;
  readonly marketsTraded: number;
}

/** The market and outcome of an outcome asset. */
export interface AssetView {
  readonly assetId: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly outcome: Outcome;
}

/** An account's credentials. The core only stores them; the server checks them. */
export interface Credentials {
  /** As the server computed it: never the password itself. */
  readonly passwordHash: string;
  readonly otp: boolean;
  readonly apiKey: ApiKeyRecord | null;
  /** Permanent once true. */
  readonly keyBlocked: boolean;
  /** The newest confirmation code; null when none was requested or it was used. */
  readonly code: { readonly code: string; readonly expiresAt: number } | null;
}

export interface ApiKeyRecord {
  readonly id: string;
  readonly key: string;
  readonly secret: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** A balance that changed. For USDC micros, for an outcome asset hundredths of a share. */
export interface BalanceChange {
  readonly userId: string;
  readonly assetId: string;
  readonly balance: number;
  readonly free: number;
  /** Cost basis of the shares, micros; 0 for USDC. */
  readonly costMicros: number;
  readonly at: number;
}
