import { decodeOrderStreamMessage } from '../../client/index.js';
import { orderUpdates } from '../tables/order-updates.js';
import { accountOf, losslessBody } from './account-list.js';
import { areExact } from './amounts.js';
import { countExtra } from './extra-fields.js';
import { areValidIds } from './ids.js';
import { addWithoutRows } from './no-rows.js';
import { textIn } from './request-fields.js';
import type { Transform } from './transform.js';

const FRAME_FIELDS = new Set(['t', 'd', 'r']);
const ORDER_FIELDS = new Set(['i', 'u', 's']);
const TPSL_FIELDS = new Set(['i', 'u', 'a', 'q', 'tpp', 'slp', 's']);
const UNSET = { assetId: null, quantity: null, takeProfitPrice: null, stopLossPrice: null };

/** A frame of the order updates stream (part 6.3) → `order_updates`. */
export const transformOrderFrame: Transform = (received, output) => {
  const body = losslessBody(received, output);
  const account = accountOf(received, output);
  if (body === undefined || account === undefined) return;
  const { receivedAt: at, request: req } = received.record;
  const origin = { receivedAt: at, account, connection: textIn(req, 'connection') ?? '' };
  const message = decodeOrderStreamMessage(body);
  switch (message.type) {
    case 'order-update': {
      const { orderId, userId, status } = message;
      if (!areValidIds({ 'd.i': orderId, 'd.u': userId }, output)) return;
      output.row(orderUpdates, { ...origin, ...UNSET, type: 'order', orderId, userId, status });
      output.countExtraFields(extraFields(received.body, ORDER_FIELDS));
      return;
    }
    case 'tpsl-update': {
      const { tpslId: orderId, userId, assetId, quantity, takeProfitPrice, stopLossPrice, status } = message;
      if (!areValidIds({ 'd.i': orderId, 'd.u': userId, 'd.a': assetId }, output)) return;
      const amounts = { q: quantity, tpp: takeProfitPrice, slp: stopLossPrice };
      if (!areExact('d', amounts, message, output)) return;
      const said = { assetId, quantity, takeProfitPrice, stopLossPrice };
      output.row(orderUpdates, { ...origin, ...said, type: 'tpsl', orderId, userId, status });
      output.countExtraFields(extraFields(received.body, TPSL_FIELDS));
      return;
    }
    case 'authorized':
    case 'ping':
      return;
    default:
      addWithoutRows(message, received, output);
  }
};

function extraFields(frame: unknown, known: ReadonlySet<string>): number {
  return countExtra(frame, FRAME_FIELDS) + countExtra((frame as { readonly d?: unknown }).d, known);
}
