import { decodeOpenPositions, type OpenPosition, type TpslOrder } from '../../client/index.js';
import { positionObservations } from '../tables/position-observations.js';
import { type ObservedTpslOrder, tpslOrderObservations } from '../tables/tpsl-order-observations.js';
import { type AccountContext, accountList } from './account-list.js';
import { areExact, exactOrDead } from './amounts.js';
import { areValidIds } from './ids.js';

/** A page of an account's open positions (part 4.4) → `position_observations`, and the TP/SL orders attached to them. */
export const transformPositions = accountList(
  decodeOpenPositions,
  (position: OpenPosition, context: AccountContext) => {
    const { answer, output } = context;
    const { assetId, orderId, eventId, marketId, totalShares, availableShares, cost } = position;
    if (!areValidIds({ ai: assetId, oi: orderId, ei: eventId, eoi: marketId }, output)) return false;
    const what = `position ${assetId}`;
    if (!areExact(what, { tsc: totalShares, asc: availableShares, c: cost }, position, output)) return false;
    const currentValue = exactOrDead(position.currentValue, `${what} v`, output);
    const pnl = exactOrDead(position.pnl, `${what} pv`, output);
    output.row(positionObservations, { answer, record: { ...position, currentValue, pnl } });
    for (const order of position.tpslOrders) {
      addTpslOrder(order, { asset: assetId, statusAsked: null, source: 'position' }, context);
    }
    return true;
  },
);

/** Adds an observation of a TP/SL order; returns whether it became a row. */
export function addTpslOrder(
  order: TpslOrder,
  seen: Pick<ObservedTpslOrder, 'asset' | 'statusAsked' | 'source'>,
  { answer, output }: AccountContext,
): boolean {
  const { tpslId, quantity, takeProfitPrice, stopLossPrice } = order;
  if (!areValidIds({ i: tpslId }, output)) return false;
  const amounts = { q: quantity, tpp: takeProfitPrice, slp: stopLossPrice };
  if (!areExact(`TP/SL order ${tpslId}`, amounts, order, output)) return false;
  output.row(tpslOrderObservations, { answer, record: { ...order, ...seen } });
  return true;
}
