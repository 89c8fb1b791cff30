import { decodeTpslOrders, type TpslOrder } from '../../decode/account/orders.js';
import { requireId } from '../params.js';
import type { AccountOperation } from './operation.js';

export interface TpslQuery {
  /** The asset that is held. */
  readonly assetId: string;
  /** Only those of the YES asset, or only the others. One description of the interface says that it is required. */
  readonly primary?: boolean;
  /** For example ACTIVE. */
  readonly status?: string;
}

/** `GET /orders/tpsl`, part 4.2: the take-profit/stop-loss orders of an asset. */
export const tpslOrdersOperation: AccountOperation<TpslQuery, TpslOrder> = {
  name: 'tpsl-orders',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest({ assetId, primary, status }) {
    const query = {
      assetId: requireId('assetId', assetId),
      ...(primary === undefined ? {} : { primary }),
      ...(status === undefined ? {} : { status }),
    };
    return { path: '/orders/tpsl', query, about: { asset: query.assetId } };
  },
  decode: decodeTpslOrders,
};
