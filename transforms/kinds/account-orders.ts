import { type ActiveOrder, decodeActiveOrders, decodeOrders, type OrderRecord } from '../../client/index.js';
import { activeOrderObservations } from '../tables/active-order-observations.js';
import { orderRecords } from '../tables/order-records.js';
import { type AccountContext, accountList } from './account-list.js';
import { areExact, exactOrDead } from './amounts.js';
import { areValidIds } from './ids.js';

/** A page of an account's orders (part 4.4) → `order_records`. */
export const transformOrders = accountList(decodeOrders, (order: OrderRecord, { answer, output }: AccountContext) => {
  const { orderId, userId, eventId, marketId, assetId, originalQuantity, filledQuantity } = order;
  if (!areValidIds({ i: orderId, u: userId, e: eventId, o: marketId, a: assetId }, output)) return false;
  if (!areExact(`order ${orderId}`, { oq: originalQuantity, q: filledQuantity }, order, output)) return false;
  // The price of a market order is an average, which the exchange divided.
  const price = exactOrDead(order.price, `order ${orderId} p`, output);
  output.row(orderRecords, { answer, record: { ...order, price } });
  return true;
});

/** A page of an account's orders in the book (part 4.4) → `active_order_observations`. */
export const transformActiveOrders = accountList(
  decodeActiveOrders,
  (order: ActiveOrder, { answer, output }: AccountContext) => {
    const { orderId, price, quantity } = order;
    if (!areValidIds({ id: orderId }, output)) return false;
    if (!areExact(`order ${orderId}`, { price, quantity }, order, output)) return false;
    output.row(activeOrderObservations, { answer, record: order });
    return true;
  },
);
