import { decodeTpslOrders, type TpslOrder } from '../../client/index.js';
import { type AccountContext, accountList } from './account-list.js';
import { addTpslOrder } from './account-positions.js';
import { textIn } from './request-fields.js';

/** The TP/SL orders of an asset (part 4.2) → `tpsl_order_observations`. */
export const transformTpslOrders = accountList(decodeTpslOrders, (order: TpslOrder, context: AccountContext) => {
  const { request: req } = context.received.record;
  const query = (req['query'] ?? {}) as Readonly<Record<string, unknown>>;
  const asset = textIn(req, 'asset') ?? textIn(query, 'assetId') ?? '';
  return addTpslOrder(order, { asset, statusAsked: textIn(query, 'status') ?? null, source: 'list' }, context);
});
