import { UsageError } from '../../core/index.js';
import { requireId } from '../rest/params.js';
import { JsonNumber, MAX_PRICE, MIN_PRICE, SIDES, type Side, toDecimal } from '../wire/index.js';

/** An amount: decimal text, sent digit for digit; or a number, sent as JavaScript writes it. */
export type DecimalInput = string | number;

/** The asset to trade and the asset to pay with. */
export interface OrderTarget {
  readonly eventId: string;
  /** Also called outcome ID. */
  readonly marketId: string;
  /** The outcome asset: YES or NO of the market. */
  readonly assetId: string;
  /** The quote asset: the ID of USDC in the coins list. */
  readonly quoteAssetId: string;
}

export interface LimitOrder extends OrderTarget {
  readonly side: Side;
  /** USDC per share, 0.01 to 0.99. */
  readonly price: DecimalInput;
  /** Shares. */
  readonly quantity: DecimalInput;
}

export type MarketOrder = OrderTarget &
  (
    | {
        readonly side: 'BUY';
        /** USDC to spend. */
        readonly amount: DecimalInput;
      }
    | {
        readonly side: 'SELL';
        /** Shares to sell. */
        readonly quantity: DecimalInput;
      }
  );

export interface TpslOrderRequest extends OrderTarget {
  /** Required by one part of the interface and absent from another. */
  readonly openingAssetId?: string;
  /** The outcome asset that the position holds. */
  readonly outcome: 'YES' | 'NO';
  /** Shares to close. */
  readonly quantity: DecimalInput;
  /** USDC per share, 0.01 to 0.99; at least one of the two prices is required. */
  readonly takeProfitPrice?: DecimalInput;
  readonly stopLossPrice?: DecimalInput;
}

type Body = Readonly<Record<string, unknown>>;

/** Body of `POST /orders/limit`, part 4.2. @throws UsageError */
export function limitOrderBody(order: LimitOrder): Body {
  const s = oneOf('side', order.side, SIDES);
  return { ...targetOf(order), s, p: priceOf('price', order.price), q: positive('quantity', order.quantity) };
}

/** Body of `POST /orders/market`, part 4.2. @throws UsageError */
export function marketOrderBody(order: MarketOrder): Body {
  const s = oneOf('side', order.side, SIDES);
  const size =
    order.side === 'BUY' ? { am: positive('amount', order.amount) } : { q: positive('quantity', order.quantity) };
  return { ...targetOf(order), s, ...size };
}

/** Body of `POST /orders/tpsl`, part 4.2. @throws UsageError */
export function tpslOrderBody(order: TpslOrderRequest): Body {
  const { openingAssetId, takeProfitPrice, stopLossPrice } = order;
  if (takeProfitPrice === undefined && stopLossPrice === undefined) {
    throw new UsageError('a TP/SL order has neither price; give takeProfitPrice, stopLossPrice, or both');
  }
  return {
    ...targetOf(order),
    ...(openingAssetId === undefined ? {} : { oa: requireId('openingAssetId', openingAssetId) }),
    i: oneOf('outcome', order.outcome, ['YES', 'NO']),
    s: 'SELL',
    q: positive('quantity', order.quantity),
    ...(takeProfitPrice === undefined ? {} : { t: priceOf('takeProfitPrice', takeProfitPrice) }),
    ...(stopLossPrice === undefined ? {} : { l: priceOf('stopLossPrice', stopLossPrice) }),
  };
}

const targetOf = ({ eventId, marketId, assetId, quoteAssetId }: OrderTarget): Body => ({
  e: requireId('eventId', eventId),
  o: requireId('marketId', marketId),
  ba: requireId('assetId', assetId),
  qa: requireId('quoteAssetId', quoteAssetId),
});

function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value;
  throw new UsageError(`${name} is ${JSON.stringify(value)}; give ${allowed.join(' or ')}`);
}

function positive(name: string, value: DecimalInput): JsonNumber {
  const decimal = typeof value === 'number' || typeof value === 'string' ? toDecimal(String(value)) : undefined;
  if (decimal !== undefined && decimal !== '0' && !decimal.startsWith('-')) return new JsonNumber(decimal);
  throw new UsageError(`${name} is ${JSON.stringify(value)}; give a decimal greater than 0`);
}

function priceOf(name: string, value: DecimalInput): JsonNumber {
  const price = positive(name, value);
  if (Number(price.text) >= MIN_PRICE && Number(price.text) <= MAX_PRICE) return price;
  throw new UsageError(`${name} is ${price.text}; give ${MIN_PRICE} to ${MAX_PRICE}`);
}
