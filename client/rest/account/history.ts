import { type Activity, decodeActivity } from '../../decode/account/activity.js';
import { decodeOrders, decodeTrades, type OrderRecord, type TradeRecord } from '../../decode/account/orders.js';
import type { OperationRequest } from '../operation.js';
import type { AccountOperation } from './operation.js';
import { type PageQuery, pageOf } from './pages.js';

export interface TradeQuery {
  /** Only this market (in the interface: event outcome ID). */
  readonly marketId?: string;
}

export interface OrderQuery extends TradeQuery {
  /** By age; default `desc`, the newest first. */
  readonly sort?: 'asc' | 'desc';
}

/** `GET /api/history/orders`, part 4.4: one page of the account's orders. Default size 20. */
export const ordersOperation: AccountOperation<OrderQuery & PageQuery, OrderRecord> = {
  name: 'orders',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest: ({ sort, ...params }) => marketPage('/api/history/orders', params, sort === undefined ? {} : { sort }),
  decode: decodeOrders,
};

/** `GET /api/history/trades`, part 4.4: one page of the account's trades. Default size 20. */
export const tradesOperation: AccountOperation<TradeQuery & PageQuery, TradeRecord> = {
  name: 'trades',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest: (params) => marketPage('/api/history/trades', params, {}),
  decode: decodeTrades,
};

/** `GET /api/history/activity`, part 4.4: one page of the trades of all users. Default size 20. */
export const activityOperation: AccountOperation<PageQuery, Activity> = {
  name: 'activity',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest(params) {
    const query = pageOf(params, 20);
    return { path: '/api/history/activity', query, about: { page: query.page } };
  },
  decode: decodeActivity,
};

function marketPage(path: string, params: TradeQuery & PageQuery, extra: Record<string, string>): OperationRequest {
  const { marketId } = params;
  const page = pageOf(params, 20);
  if (marketId === undefined) return { path, query: { ...page, ...extra }, about: { page: page.page } };
  const query = { ...page, eventOutcomeId: marketId, ...extra };
  return { path, query, about: { page: page.page, market: marketId } };
}
