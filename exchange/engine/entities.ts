import type { Series } from '../store/index.js';
import { inYesTerms } from './assets.js';
import { Book } from './book.js';
import type { Credentials, OrderType, Outcome, Side } from './types.js';
import { DayVolume } from './volume.js';

/* The entities of the state. They refer to each other, so they share a file. */

/** An account's holding of one outcome asset. */
export interface Position {
  readonly asset: number;
  /** Hundredths. */
  shares: number;
  /** Shares locked by SELL orders, hundredths. */
  locked: number;
  /** Cost basis without fees, micros. */
  cost: number;
  readonly openedAt: number;
  /** Number of the order that opened it. */
  readonly order: number;
}

/** The index range of an account's records of one market within its history, and their number. */
export interface Extent {
  first: number;
  last: number;
  count: number;
}

export interface Histories {
  readonly orders: Series;
  readonly trades: Series;
  readonly transactions: Series;
  readonly tpsl: Series;
}

/** An account: money in micros, positions by asset number, and its histories. */
export class Account {
  free = 0;
  locked = 0;
  realisedPnl = 0;
  feesPaid = 0;
  volume = 0;
  closedPositions = 0;
  lastClosedAt: number | null = null;
  readonly positions = new Map<number, Position>();
  /** Resting orders, oldest first. */
  readonly orders = new Map<number, LiveOrder>();
  /** Extents of its orders and trades by market number. */
  readonly ordersByMarket = new Map<number, Extent>();
  readonly tradesByMarket = new Map<number, Extent>();

  constructor(
    readonly number: number,
    readonly userId: string,
    readonly email: string,
    readonly username: string,
    readonly joinedAt: number,
    public credentials: Credentials,
    readonly histories: Histories,
  ) {}
}

export function widen(extents: Map<number, Extent>, market: number, index: number): void {
  const extent = extents.get(market);
  if (!extent) {
    extents.set(market, { first: index, last: index, count: 1 });
    return;
  }
  extent.last = index;
  extent.count += 1;
}

/** An order that is resting in a book or being matched. */
export class LiveOrder {
  /** Unfilled quantity, hundredths. */
  remaining: number;
  filled = 0;
  filledMicros = 0;
  /** A BUY's locked USDC, micros. A SELL locks `remaining` shares instead. */
  lockedMicros = 0;
  /** Neighbours of the same price, by time. */
  previous: LiveOrder | undefined;
  next: LiveOrder | undefined;

  constructor(
    readonly number: number,
    readonly account: Account,
    readonly market: Market,
    readonly outcome: Outcome,
    readonly side: Side,
    readonly type: OrderType,
    /** Price of its own asset, cents; for a market order the worst possible price. */
    readonly price: number,
    /** As placed, hundredths; for a market BUY a quantity that no amount can buy. */
    readonly quantity: number,
    /** The amount that a market BUY may spend, micros; 0 otherwise. */
    readonly amount: number,
    readonly placedAt: number,
    /** Its index in the account's order history. */
    readonly historyIndex: number,
  ) {
    this.remaining = quantity;
  }

  /** Whether it is a bid in YES terms: BUY YES and SELL NO are. */
  get bids(): boolean {
    return (this.side === 'BUY') === (this.outcome === 'YES');
  }

  /** Its price in YES terms, cents. */
  get level(): number {
    return inYesTerms(this.outcome, this.price);
  }
}

export class Market {
  book = new Book<LiveOrder>();
  readonly volume = new DayVolume();
  /** Last trade price for YES, cents; undefined before the first trade. */
  lastPrice: number | undefined;
  resolved: { readonly winner: Outcome; readonly at: number } | undefined;
  trades = 0;
  yesShares = 0;
  noShares = 0;
  /** Sum of price × quantity of its resting orders, micros. */
  liquidity = 0;
  /** Active take-profit and stop-loss orders, oldest first. */
  readonly tpsl = new Map<number, Tpsl>();
  /** The last published values. */
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

/** An active take-profit or stop-loss order. */
export interface Tpsl {
  readonly number: number;
  readonly account: Account;
  readonly market: Market;
  readonly outcome: Outcome;
  /** Hundredths of a share. */
  readonly quantity: number;
  /** Cents of its asset. */
  readonly takeProfit: number | null;
  readonly stopLoss: number | null;
  readonly placedAt: number;
  /** Its index in the account's history. */
  readonly historyIndex: number;
}

/** Whether the market's last price of its asset has reached its take-profit or stop-loss price. */
export function isReached(tpsl: Tpsl): boolean {
  if (tpsl.market.lastPrice === undefined) return false;
  const last = inYesTerms(tpsl.outcome, tpsl.market.lastPrice);
  return (tpsl.takeProfit !== null && last >= tpsl.takeProfit) || (tpsl.stopLoss !== null && last <= tpsl.stopLoss);
}
