import type { Series } from '../store/index.js';
import type { LiveOrder } from './book.js';
import type { Credentials } from './types.js';

/** What an account holds of one outcome asset. */
export interface Position {
  readonly asset: number;
  /** Hundredths. */
  shares: number;
  /** Shares that SELL orders hold, hundredths. */
  locked: number;
  /** What the shares cost, without fees, micros. */
  cost: number;
  readonly openedAt: number;
  /** Number of the order that opened it. */
  readonly order: number;
}

/** Where an account's records of one market lie in its history, and how many they are. */
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

/** One account: money in micros, positions by asset number, and where its histories are. */
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
