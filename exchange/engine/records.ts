import type { LiveOrder } from './entities.js';
import {
  type OrderStatus,
  type OrderType,
  type Outcome,
  type Side,
  TPSL_STATUSES,
  type TpslStatus,
  type TransactionType,
} from './types.js';

/*
 * The encoding of histories: fixed-size records of float64 words that hold integers (except chances). Small fields share
 * a word, which stays far below 2^53.
 */

export const WIDTH = { order: 8, trade: 2, transaction: 4, tpsl: 7, fill: 7, price: 3, chance: 2 } as const;

const STATUSES: readonly OrderStatus[] = ['ACTIVE', 'FILLED', 'CANCELLED', 'FAILED'];
const TRANSACTIONS: readonly TransactionType[] = ['DEPOSIT', 'WITHDRAWAL', 'PAYOUT'];
const ACCOUNTS = 2 ** 26;

type Words = ArrayLike<number>;
const word = (words: Words, i: number): number => words[i] as number;
const bit = (flag: boolean): number => (flag ? 1 : 0);
const outcomeOf = (flag: number): Outcome => (flag === 0 ? 'YES' : 'NO');
const sideOf = (flag: number): Side => (flag === 0 ? 'BUY' : 'SELL');

export interface OrderRecord {
  readonly number: number;
  readonly market: number;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly type: OrderType;
  readonly status: OrderStatus;
  readonly price: number;
  readonly quantity: number;
  readonly amount: number;
  readonly filled: number;
  readonly filledMicros: number;
  readonly placedAt: number;
  /** 0 while ACTIVE. */
  readonly finishedAt: number;
}

export function encodeOrder(order: LiveOrder, status: OrderStatus, finishedAt: number): number[] {
  const small =
    bit(order.outcome === 'NO') +
    bit(order.side === 'SELL') * 2 +
    bit(order.type === 'MARKET') * 4 +
    STATUSES.indexOf(status) * 8 +
    (order.type === 'MARKET' ? 0 : order.price) * 32;
  const quantity = order.amount > 0 ? 0 : order.quantity;
  const { number, placedAt, amount, filled, filledMicros, market } = order;
  return [number, placedAt, market.number * 4096 + small, quantity, amount, filled, filledMicros, finishedAt];
}

export function decodeOrder(words: Words): OrderRecord {
  const packed = word(words, 2);
  const small = packed % 4096;
  return {
    number: word(words, 0),
    market: Math.floor(packed / 4096),
    outcome: outcomeOf(small & 1),
    side: sideOf(small & 2),
    type: (small & 4) === 0 ? 'LIMIT' : 'MARKET',
    status: STATUSES[(small >> 3) & 3] as OrderStatus,
    price: small >> 5,
    quantity: word(words, 3),
    amount: word(words, 4),
    filled: word(words, 5),
    filledMicros: word(words, 6),
    placedAt: word(words, 1),
    finishedAt: word(words, 7),
  };
}

/** Market number of an order record, without decoding the rest. */
export const marketOfOrder = (words: Words): number => Math.floor(word(words, 2) / 4096);

/** One side of a fill: the fields that come from its order. */
export interface FillSide {
  readonly order: number;
  readonly account: number;
  readonly outcome: Outcome;
  readonly side: Side;
}

export interface FillRecord {
  readonly at: number;
  readonly market: number;
  /** In YES terms, cents. */
  readonly level: number;
  readonly quantity: number;
  /** Taker fee, micros. */
  readonly fee: number;
  readonly taker: FillSide;
  readonly maker: FillSide;
}

export function encodeFill(fill: FillRecord): number[] {
  const { taker, maker } = fill;
  const small =
    bit(taker.outcome === 'NO') +
    bit(taker.side === 'SELL') * 2 +
    bit(maker.outcome === 'NO') * 4 +
    bit(maker.side === 'SELL') * 8 +
    fill.level * 16;
  const accounts = taker.account * ACCOUNTS + maker.account;
  return [fill.at, fill.market * 2048 + small, fill.quantity, fill.fee, taker.order, maker.order, accounts];
}

export function decodeFill(words: Words): FillRecord {
  const packed = word(words, 1);
  const small = packed % 2048;
  const accounts = word(words, 6);
  return {
    at: word(words, 0),
    market: Math.floor(packed / 2048),
    level: small >> 4,
    quantity: word(words, 2),
    fee: word(words, 3),
    taker: {
      order: word(words, 4),
      account: Math.floor(accounts / ACCOUNTS),
      outcome: outcomeOf(small & 1),
      side: sideOf(small & 2),
    },
    maker: {
      order: word(words, 5),
      account: accounts % ACCOUNTS,
      outcome: outcomeOf(small & 4),
      side: sideOf(small & 8),
    },
  };
}

/** A trade record: number of the fill (from 1), its side, and the market for filtering. */
export const encodeTrade = (fill: number, maker: boolean, market: number): number[] => [fill * 2 + bit(maker), market];
export const fillOfTrade = (trade: number): { fill: number; maker: boolean } => ({
  fill: Math.floor(trade / 2),
  maker: trade % 2 === 1,
});

export interface PriceRecord {
  readonly at: number;
  readonly market: number;
  readonly chance: number;
  /** Cents; 0 and 100 when that side is empty. */
  readonly bestBid: number;
  readonly bestAsk: number;
}

export const encodePrice = (price: PriceRecord): number[] => [
  price.at,
  price.market * 16384 + price.bestBid * 128 + price.bestAsk,
  price.chance,
];

export function decodePrice(words: Words): PriceRecord {
  const packed = word(words, 1);
  const small = packed % 16384;
  return {
    at: word(words, 0),
    market: Math.floor(packed / 16384),
    chance: word(words, 2),
    bestBid: small >> 7,
    bestAsk: small & 127,
  };
}

export interface TransactionRecord {
  readonly number: number;
  readonly at: number;
  readonly type: TransactionType;
  /** Asset number of a PAYOUT; 0 otherwise. */
  readonly asset: number;
  readonly amount: number;
}

export const encodeTransaction = (t: TransactionRecord): number[] => [
  t.number,
  t.at,
  t.asset * 4 + TRANSACTIONS.indexOf(t.type),
  t.amount,
];

export function decodeTransaction(words: Words): TransactionRecord {
  const packed = word(words, 2);
  return {
    number: word(words, 0),
    at: word(words, 1),
    type: TRANSACTIONS[packed % 4] as TransactionType,
    asset: Math.floor(packed / 4),
    amount: word(words, 3),
  };
}

export interface TpslRecord {
  readonly number: number;
  readonly market: number;
  readonly outcome: Outcome;
  readonly quantity: number;
  readonly takeProfit: number | null;
  readonly stopLoss: number | null;
  readonly status: TpslStatus;
  readonly placedAt: number;
  /** 0 unless TRIGGERED. */
  readonly order: number;
}

export const encodeTpsl = (t: TpslRecord): number[] => [
  t.number,
  t.placedAt,
  t.market * 8 + bit(t.outcome === 'NO') + TPSL_STATUSES.indexOf(t.status) * 2,
  t.quantity,
  t.takeProfit ?? 0,
  t.stopLoss ?? 0,
  t.order,
];

export function decodeTpsl(words: Words): TpslRecord {
  const packed = word(words, 2);
  return {
    number: word(words, 0),
    market: Math.floor(packed / 8),
    outcome: outcomeOf(packed % 2),
    quantity: word(words, 3),
    takeProfit: word(words, 4) || null,
    stopLoss: word(words, 5) || null,
    status: TPSL_STATUSES[Math.floor(packed / 2) % 4] as TpslStatus,
    placedAt: word(words, 1),
    order: word(words, 6),
  };
}
