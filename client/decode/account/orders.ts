import type { Decimal } from '../../wire/decimal.js';
import type { LosslessJson } from '../../wire/json-number.js';
import { activeOrderSchema, orderRecordSchema, tpslOrderSchema, tradeRecordSchema } from '../../wire/order-records.js';
import type { DecodedList, InvalidBody } from '../result.js';
import { decodeRecords } from './records.js';

/** An order of the order history. Absent fields are null. */
export interface OrderRecord {
  readonly orderId: string;
  readonly userId: string | null;
  readonly eventId: string | null;
  /** Also called outcome ID. */
  readonly marketId: string | null;
  readonly assetId: string | null;
  /** Shares. */
  readonly originalQuantity: Decimal | null;
  /** BUY or SELL. */
  readonly side: string | null;
  /** For example LIMIT. */
  readonly orderType: string | null;
  readonly price: Decimal | null;
  readonly placedAtMicros: number | null;
  readonly expiresAtMicros: number | null;
  /** For example FILLED. */
  readonly status: string | null;
  /** Shares. */
  readonly filledQuantity: Decimal | null;
}

/** The list of `GET /api/history/orders`, part 4.4. */
export function decodeOrders(body: LosslessJson): DecodedList<OrderRecord> | InvalidBody {
  return decodeRecords(
    body,
    orderRecordSchema,
    (wire): OrderRecord => ({
      orderId: wire.i,
      userId: wire.u ?? null,
      eventId: wire.e ?? null,
      marketId: wire.o ?? null,
      assetId: wire.a ?? null,
      originalQuantity: wire.oq ?? null,
      side: wire.si ?? null,
      orderType: wire.t ?? null,
      price: wire.p ?? null,
      placedAtMicros: wire.m ?? null,
      expiresAtMicros: wire.ex ?? null,
      status: wire.st ?? null,
      filledQuantity: wire.q ?? null,
    }),
  );
}

/** An order in the book. */
export interface ActiveOrder {
  readonly orderId: string;
  /** For example ACTIVE. */
  readonly status: string | null;
  /** BUY or SELL. */
  readonly side: string | null;
  readonly price: Decimal | null;
  /** Remaining quantity, shares. */
  readonly quantity: Decimal;
}

/** The list of `GET /api/history/deals/active-orders`, part 4.4. */
export function decodeActiveOrders(body: LosslessJson): DecodedList<ActiveOrder> | InvalidBody {
  return decodeRecords(
    body,
    activeOrderSchema,
    (wire): ActiveOrder => ({
      orderId: wire.id,
      status: wire.status ?? null,
      side: wire.side ?? null,
      price: wire.price ?? null,
      quantity: wire.quantity,
    }),
  );
}

/** One side of a fill. */
export interface TradeRecord {
  /** ID of this side of the fill. */
  readonly tradeRecordId: string;
  /** ID of the fill. */
  readonly tradeId: string | null;
  readonly userId: string | null;
  readonly orderId: string | null;
  /** BUY or SELL. */
  readonly side: string | null;
  readonly eventId: string | null;
  readonly marketId: string | null;
  readonly assetId: string | null;
  /** Shares. */
  readonly quantity: Decimal;
  /** USDC per share. */
  readonly price: Decimal;
  readonly fee: Decimal | null;
  readonly executedAtMicros: number | null;
}

/** The list of `GET /api/history/trades`, part 4.4, whose wrapper is not documented. */
export function decodeTrades(body: LosslessJson): DecodedList<TradeRecord> | InvalidBody {
  return decodeRecords(
    body,
    tradeRecordSchema,
    (wire): TradeRecord => ({
      tradeRecordId: wire.i,
      tradeId: wire.t ?? null,
      userId: wire.u ?? null,
      orderId: wire.or ?? null,
      side: wire.s ?? null,
      eventId: wire.e ?? null,
      marketId: wire.o ?? null,
      assetId: wire.a ?? null,
      quantity: wire.q,
      price: wire.p,
      fee: wire.f ?? null,
      executedAtMicros: wire.m ?? null,
    }),
  );
}

/** A take-profit/stop-loss order. */
export interface TpslOrder {
  readonly tpslId: string;
  /** Shares. */
  readonly quantity: Decimal | null;
  readonly takeProfitPrice: Decimal | null;
  readonly stopLossPrice: Decimal | null;
}

type TpslWire = ReturnType<typeof tpslOrderSchema.parse>;

export const tpslOrderOf = (wire: TpslWire): TpslOrder => ({
  tpslId: wire.i,
  quantity: wire.q ?? null,
  takeProfitPrice: wire.tpp ?? null,
  stopLossPrice: wire.slp ?? null,
});

/** The list of `GET /orders/tpsl`, part 4.2. */
export function decodeTpslOrders(body: LosslessJson): DecodedList<TpslOrder> | InvalidBody {
  return decodeRecords(body, tpslOrderSchema, tpslOrderOf);
}
