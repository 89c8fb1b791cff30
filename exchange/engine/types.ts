import type { Clock, Component, Logger } from '../../core/index.js';

/*
 * What the exchange's core offers to its server and to bots. Units, everywhere in this folder: USDC in whole micros
 * (millionths), prices in whole cents 1..99, quantities in whole hundredths of a share, times in Unix micros. Where
 * something is shown to the outside as a decimal (`chance`, truth rows), its docstring says so.
 */

export type Outcome = 'YES' | 'NO';
export type Side = 'BUY' | 'SELL';
export type OrderType = 'LIMIT' | 'MARKET';
export type OrderStatus = 'ACTIVE' | 'FILLED' | 'CANCELLED' | 'FAILED';
export type TpslStatus = 'ACTIVE' | 'TRIGGERED' | 'CANCELLED' | 'FAILED';
export type TransactionType = 'DEPOSIT' | 'WITHDRAWAL' | 'PAYOUT';
export type FillKind = 'transfer' | 'mint' | 'merge';

/** A market as it is at the moment of the call; never changes afterwards. */
export interface MarketView {
  readonly marketId: string;
  readonly eventId: string;
  readonly name: string;
  readonly yesAssetId: string;
  readonly noAssetId: string;
  /** 0..1: the last trade price for YES, the opening chance before the first trade, 1 or 0 when resolved. */
  readonly chance: number;
  /** 0..1; 0 when nobody bids. */
  readonly bestBid: number;
  /** 0..1; 1 when nobody asks. */
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

/** An event as it is at the moment of the call; never changes afterwards. */
export interface EventView {
  readonly eventId: string;
  readonly title: string;
  readonly slug: string;
  /** Slug of its category. */
  readonly category: string;
  readonly tags: readonly string[];
  readonly featured: boolean;
  readonly createdAt: number;
  /** When it is announced to end; it resolves near that time, not exactly then. */
  readonly closesAt: number;
  readonly markets: readonly MarketView[];
  /** False once every market is resolved. */
  readonly open: boolean;
  readonly volume24hMicros: number;
  readonly totalVolumeMicros: number;
  /** Price times quantity of all resting orders. */
  readonly liquidityMicros: number;
}

/** One change of a market's chance, best bid or best ask (each 0..1). None is ever left out or merged with another. */
export interface PriceChange {
  /** Counts up by one over all markets, from 1. */
  readonly seq: number;
  readonly eventId: string;
  readonly marketId: string;
  readonly chance: number;
  readonly bestBid: number;
  readonly bestAsk: number;
  readonly at: number;
}

/** A row of `/_control/truth/prices`, as the contract names its fields. */
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

/** The answer of `/_control/truth`: decimals (USDC, shares). */
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
  /** As placed, hundredths; 0 for a market BUY, which names an amount instead. */
  readonly quantity: number;
  /** What a market BUY may spend, micros; 0 otherwise. */
  readonly amountMicros: number;
  readonly filled: number;
  /** USDC value of what was filled, without fees, micros. */
  readonly filledMicros: number;
  readonly status: OrderStatus;
  readonly placedAt: number;
  /** When it became FILLED, CANCELLED or FAILED. */
  readonly finishedAt?: number;
}

export interface OrderUpdate {
  readonly order: OrderView;
  /** What happened; one order may have several updates in one command (placed, then filled). */
  readonly cause: 'placed' | 'filled' | 'cancelled' | 'failed';
  readonly at: number;
}

/** One side of a fill: what its owner sees in the trade history. */
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
  /** The market order that it became, once TRIGGERED. */
  readonly orderId?: string;
}

export interface PositionView {
  readonly assetId: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly outcome: Outcome;
  readonly shares: number;
  /** Shares that no SELL order holds. */
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

/** What proves who an account is. The core only keeps it; the server gives it meaning. */
export interface Credentials {
  /** As the server made it: never the password itself. */
  readonly passwordHash: string;
  readonly otp: boolean;
  readonly apiKey: ApiKeyRecord | null;
  /** Once true, for good. */
  readonly keyBlocked: boolean;
  /** The newest confirmation code; null when none was asked for or it was used. */
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
  /** What the held shares cost, micros; 0 for USDC. */
  readonly costMicros: number;
  readonly at: number;
}

/** Why a command was refused: `invalid` answers 400, `not-found` 404. */
export interface Rejection {
  readonly kind: 'invalid' | 'not-found';
  readonly code: RejectionCode;
  readonly message: string;
}
export type RejectionCode =
  | 'unknown-account'
  | 'unknown-event'
  | 'unknown-market'
  | 'unknown-asset'
  | 'unknown-order'
  | 'unknown-tpsl'
  | 'market-resolved'
  | 'price-out-of-range'
  | 'bad-quantity'
  | 'bad-amount'
  | 'bad-chance'
  | 'bad-event'
  | 'tpsl-without-price'
  | 'insufficient-usdc'
  | 'insufficient-shares'
  | 'email-taken';

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly rejection: Rejection };

interface OrderTarget {
  readonly userId: string;
  readonly eventId: string;
  readonly marketId: string;
  readonly assetId: string;
}
export interface LimitRequest extends OrderTarget {
  readonly side: Side;
  readonly price: number;
  readonly quantity: number;
}
export type MarketRequest = OrderTarget &
  ({ readonly side: 'BUY'; readonly amountMicros: number } | { readonly side: 'SELL'; readonly quantity: number });
export interface TpslRequest extends OrderTarget {
  readonly quantity: number;
  readonly takeProfit?: number;
  readonly stopLoss?: number;
}
export interface OpenEventRequest {
  readonly title: string;
  /** Slug of a category. */
  readonly category: string;
  readonly tags: readonly string[];
  readonly featured?: boolean;
  readonly closesAt?: number;
  /** `chance` is 0..1, both excluded. */
  readonly markets: readonly { readonly name: string; readonly chance: number }[];
}
export interface OpenAccountRequest {
  readonly email: string;
  readonly username?: string;
  readonly passwordHash: string;
  readonly otp?: boolean;
  readonly depositMicros: number;
}

export interface ExchangeEvents {
  price: PriceChange;
  eventOpened: EventView;
  marketResolved: {
    readonly eventId: string;
    readonly marketId: string;
    readonly winner: Outcome;
    readonly at: number;
  };
  /** After the last `marketResolved` of the event. */
  eventClosed: { readonly eventId: string; readonly at: number };
  fill: TruthTrade;
  orderUpdate: OrderUpdate;
  balance: BalanceChange;
  tpsl: TpslView;
}

/** A part of a history, newest first unless asked otherwise. */
export interface Slice<T> {
  readonly items: readonly T[];
  readonly total: number;
}
export interface SliceRequest {
  readonly page: number;
  readonly size: number;
  readonly marketId?: string;
  readonly sort?: 'asc' | 'desc';
}

/** An account that the seed made, with everything needed to use it. */
export interface SeededAccount {
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

/**
 * The exchange without its wire: books, ledger, histories. Every call is synchronous and complete when it returns.
 * Listeners run synchronously and in order, before the call that caused them returns (except from inside a listener:
 * then after it). With a data folder a command is in the journal before any listener hears of it, and on disk for good
 * once `durable()` resolved.
 */
export interface ExchangeCore extends Component {
  /** Recovers or begins the data folder, opens the seeded accounts and events, lets the bots trade. @throws UsageError */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;

  /** Open events, oldest first. */
  events(): readonly EventView[];
  /** Their IDs, for those who must not look at very many events in one go. */
  openEventIds(): readonly string[];
  /** How many events were ever opened. */
  readonly eventsOpened: number;
  /** Any event, also a closed one. */
  event(eventId: string): EventView | undefined;
  market(marketId: string): MarketView | undefined;
  categories(): readonly Category[];
  /** By rank. */
  tags(): readonly Tag[];
  coins(): readonly Coin[];
  /** The coin ID of USDC. */
  readonly usdcId: string;

  on<K extends keyof ExchangeEvents>(event: K, listener: (value: ExchangeEvents[K]) => void): () => void;

  openEvent(request: OpenEventRequest): Result<EventView>;
  resolveMarket(eventId: string, marketId: string, winner: Outcome): Result<EventView>;

  openAccount(request: OpenAccountRequest): Result<AccountView>;
  deposit(userId: string, amountMicros: number): Result<TransactionView>;
  withdraw(userId: string, amountMicros: number): Result<TransactionView>;
  blockKey(userId: string): Result<null>;
  /** Replaces the active key, or revokes it with null. */
  setApiKey(userId: string, key: ApiKeyRecord | null): Result<null>;
  /** Puts a confirmation code into the account's mailbox, or uses it up with null. */
  setCode(userId: string, code: { readonly code: string; readonly expiresAt: number } | null): Result<null>;

  placeLimit(request: LimitRequest): Result<OrderView>;
  placeMarket(request: MarketRequest): Result<OrderView>;
  cancel(userId: string, orderId: string): Result<OrderView>;
  placeTpsl(request: TpslRequest): Result<TpslView>;
  cancelTpsl(userId: string, tpslId: string): Result<TpslView>;

  account(userId: string): AccountView | undefined;
  credentials(userId: string): Credentials | undefined;
  accountByEmail(email: string): AccountView | undefined;
  /** The account whose active key this is. */
  accountByApiKey(key: string): AccountView | undefined;
  /** The accounts of `--accounts`, with their active key (empty texts when it was revoked). */
  seededAccounts(): readonly SeededAccount[];
  botAccounts(): readonly SeededAccount[];

  /** Of one market, or of all, oldest first. */
  activeOrders(userId: string, marketId?: string): readonly OrderView[];
  /** Hundredths of a share that the account holds and no SELL order locks. */
  freeShares(userId: string, assetId: string): number;
  orders(userId: string, slice: SliceRequest): Slice<OrderView>;
  trades(userId: string, slice: SliceRequest): Slice<TradeView>;
  transactions(userId: string, slice: SliceRequest): Slice<TransactionView>;
  /** Everybody's: the taker's side of every fill. */
  activity(slice: SliceRequest): Slice<TradeView>;
  tpslOrders(userId: string): readonly TpslView[];

  /** Raw points with `fromSeconds <= t <= toSeconds`: one per second with a change, its last value. */
  chancePoints(marketId: string, fromSeconds: number, toSeconds: number): readonly ChancePoint[];
  /** The last raw point with `t <= seconds`; undefined before the market opened. */
  lastChanceAtOrBefore(marketId: string, seconds: number): ChancePoint | undefined;

  truth(): Truth;
  /** Rows with a larger `seq`, in order, up to what exists when it is called. Read them in one go. */
  fillsAfter(seq: number): Iterable<TruthTrade>;
  pricesAfter(seq: number): Iterable<TruthPrice>;

  /** Resolves when everything accepted so far is on disk; at once without a data folder. */
  durable(): Promise<void>;
}

export interface ExchangeOptions {
  readonly seed: number;
  /** How many events are open at a time. */
  readonly events: number;
  readonly bots: number;
  /** Speed of the bots and of market life; 1 is normal, 0 stands still. Without bots market life stands still too. */
  readonly pace: number;
  readonly accounts: number;
  readonly takerFeeBps: number;
  readonly dataDir?: string;
  readonly clock: Clock;
  readonly log?: Logger;
}
