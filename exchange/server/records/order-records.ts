import type {
  ActiveOrderWire,
  OpenPositionWire,
  OrderRecordWire,
  TpslOrderWire,
  TpslUpdateWire,
  TradeRecordWire,
} from '../../../client/wire/index.js';
import { averagePrice, type OrderView, type PositionView, type TpslView, type TradeView } from '../../engine/index.js';
import { type MarketLookup, priceNow, valueMicros } from './market-lookup.js';
import { eventIcon, eventImage, iso, price, priceOrNull, rounded, shares, usdc } from './wire-values.js';

/*
 * Records of orders, trades and positions, part 2. A market order has no limit price: its price is the average of its
 * fills, rounded to a millionth. A market BUY has no quantity: its quantity is what was filled.
 */

export function orderRecord(order: OrderView): OrderRecordWire {
  const { type, quantity, filled, filledMicros } = order;
  return {
    i: order.orderId,
    u: order.userId,
    e: order.eventId,
    o: order.marketId,
    a: order.assetId,
    oq: shares(quantity === 0 ? filled : quantity),
    si: order.side,
    t: type,
    p: type === 'LIMIT' ? price(order.price) : usdc(averagePrice(filledMicros, filled)),
    m: Math.floor(order.placedAt / 1000),
    ex: null,
    st: order.status,
    q: shares(filled),
  };
}

export function activeOrder(order: OrderView): ActiveOrderWire {
  return {
    id: order.orderId,
    status: order.status,
    side: order.side,
    price: price(order.price),
    quantity: shares(order.quantity - order.filled),
  };
}

export function tradeRecord(trade: TradeView): TradeRecordWire {
  return {
    i: trade.tradeRecordId,
    t: trade.tradeId,
    u: trade.userId,
    or: trade.orderId,
    s: trade.side,
    e: trade.eventId,
    o: trade.marketId,
    a: trade.assetId,
    q: shares(trade.quantity),
    p: price(trade.price),
    f: usdc(trade.feeMicros),
    m: iso(trade.at),
  };
}

export function tpslRecord(tpsl: TpslView): TpslOrderWire {
  return {
    i: tpsl.tpslId,
    q: shares(tpsl.quantity),
    tpp: priceOrNull(tpsl.takeProfit),
    slp: priceOrNull(tpsl.stopLoss),
  };
}

/** The `d` of TPSL_UPDATE, part 6.3. */
export function tpslUpdate(tpsl: TpslView): TpslUpdateWire {
  return { ...tpslRecord(tpsl), u: tpsl.userId, a: tpsl.assetId, s: tpsl.status };
}

/** @param tpsl the active TP/SL orders of the position's asset */
export function openPosition(
  position: PositionView,
  lookup: MarketLookup,
  tpsl: readonly TpslView[],
): OpenPositionWire {
  const { eventId, marketId, outcome, costMicros } = position;
  const { event, market } = lookup.of(position);
  const { title, slug } = event;
  const value = valueMicros(market, outcome, position.shares);
  return {
    oi: position.orderId,
    ei: eventId,
    eoi: marketId,
    ai: position.assetId,
    et: title,
    eic: eventIcon(slug),
    es: slug,
    eim: eventImage(slug),
    on: market.name,
    tn: outcome,
    ip: outcome === 'YES',
    tsc: shares(position.shares),
    asc: shares(position.freeShares),
    sp: usdc(averagePrice(costMicros, position.shares)),
    c: usdc(costMicros),
    cp: priceNow(market, outcome),
    v: usdc(value),
    tpsl: tpsl.map(tpslRecord),
    pv: usdc(value - costMicros),
    pp: costMicros === 0 ? 0 : rounded((100 * (value - costMicros)) / costMicros),
    od: iso(position.openedAt),
  };
}
