import { type ActiveOrder, decodeActiveOrders } from '../../decode/account/orders.js';
import { decodeOpenPositions, type OpenPosition } from '../../decode/account/positions.js';
import type { AccountOperation } from './operation.js';
import { type PageQuery, pageOf } from './pages.js';

/** `GET /api/history/deals/open-positions`, part 4.4: one page of the open positions. Default size 100. */
export const openPositionsOperation: AccountOperation<PageQuery, OpenPosition> = {
  name: 'open-positions',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest(params) {
    const query = pageOf(params, 100);
    return { path: '/api/history/deals/open-positions', query, about: { page: query.page } };
  },
  decode: decodeOpenPositions,
};

/** `GET /api/history/deals/active-orders`, part 4.4: one page of the orders in the book. Default size 100. */
export const activeOrdersOperation: AccountOperation<PageQuery, ActiveOrder> = {
  name: 'active-orders',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest(params) {
    const query = pageOf(params, 100);
    return { path: '/api/history/deals/active-orders', query, about: { page: query.page } };
  },
  decode: decodeActiveOrders,
};
