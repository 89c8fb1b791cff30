import type { Clock, Component, Logger } from '../../core/index.js';
import type { Truth, TruthPrice, TruthTrade } from './truth-types.js';
import type {
  AccountView,
  ApiKeyRecord,
  AssetView,
  BalanceChange,
  Category,
  ChancePoint,
  Coin,
  Credentials,
  EventView,
  MarketView,
  OrderUpdate,
  OrderView,
  Outcome,
  PriceChange,
  ProfileView,
  Side,
  Tag,
  TpslView,
  TradeView,
  TransactionView,
} from './types.js';

/** Why a command was rejected: the server answers `invalid` with 400, `not-found` with 404. */
interface Rejection {
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

/** A page of a history, newest first unless `sort` is `asc`. */
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

/** An account opened from the seed, with its credentials. */
export interface SeededAccount {
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

/**
 * The exchange without its network interface: books, ledger, histories. Every call is synchronous. Listeners run
 * synchronously and in order before the call returns; events of a call made inside a listener are delivered after that
 * listener. With a data folder, a command is in the journal before listeners are called, and durable once `durable()`
 * has resolved.
 */
export interface ExchangeCore extends Component {
  /** Opens or creates the data folder, opens the seeded accounts and events, starts the simulation. @throws UsageError */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;

  /** Open events, oldest first. */
  events(): readonly EventView[];
  /** Their IDs only: cheap for callers that process many events in slices. */
  openEventIds(): readonly string[];
  /** Number of events opened so far, closed ones included. */
  readonly eventsOpened: number;
  /** Any event, also a closed one. */
  event(eventId: string): EventView | undefined;
  market(marketId: string): MarketView | undefined;
  /** The market and outcome of an outcome asset. */
  asset(assetId: string): AssetView | undefined;
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
  /** Stores a confirmation code in the account's mailbox; null removes it. */
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
  apiKeyHolder(key: string): { readonly userId: string; readonly credentials: Credentials } | undefined;
  profile(userId: string): ProfileView | undefined;
  /** The accounts of `--accounts`, with their active key (empty strings when it was revoked). */
  seededAccounts(): readonly SeededAccount[];
  botAccounts(): readonly SeededAccount[];

  /** Of one market, or of all, oldest first. */
  activeOrders(userId: string, marketId?: string): readonly OrderView[];
  orders(userId: string, slice: SliceRequest): Slice<OrderView>;
  trades(userId: string, slice: SliceRequest): Slice<TradeView>;
  transactions(userId: string, slice: SliceRequest): Slice<TransactionView>;
  /** Fills of all accounts, each once: the taker's side. */
  activity(slice: SliceRequest): Slice<TradeView>;
  tpslOrders(userId: string): readonly TpslView[];
  /** The active ones of a market, oldest first. */
  activeTpsl(userId: string, marketId: string): readonly TpslView[];

  /** Raw points with `fromSeconds <= t <= toSeconds`: one per second with a change, its last value. */
  chancePoints(marketId: string, fromSeconds: number, toSeconds: number): readonly ChancePoint[];
  /** The last raw point with `t <= seconds`; undefined before the market opened. */
  lastChanceAtOrBefore(marketId: string, seconds: number): ChancePoint | undefined;

  truth(): Truth;
  /** Rows with a larger `seq`, in order, up to the newest at the time of the call. Iterate without yielding to other code. */
  fillsAfter(seq: number): Iterable<TruthTrade>;
  pricesAfter(seq: number): Iterable<TruthPrice>;

  /** Resolves when every command accepted so far is on disk; immediately without a data folder. */
  durable(): Promise<void>;
}

export interface ExchangeOptions {
  readonly seed: number;
  /** Number of events that are open at the same time. */
  readonly events: number;
  readonly bots: number;
  /** Speed of the bots and of events opening and ending; 1 is normal, 0 stops both. Without bots events do not end either. */
  readonly pace: number;
  readonly accounts: number;
  readonly takerFeeBps: number;
  readonly dataDir?: string;
  readonly clock: Clock;
  readonly log?: Logger;
}
