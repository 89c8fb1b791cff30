import type { TpslOrder } from '../../client/index.js';
import { type AccountRow, answerColumns, field } from './account-row.js';
import { decimal, lowCardinality, nameOrEmpty, nullable, oneOf, text } from './column-types.js';
import { rowLogTable } from './row-table.js';

/** A take-profit/stop-loss order and where it was seen. */
export interface SeenTpslOrder extends TpslOrder {
  /** That was asked about; empty when the request did not say. */
  readonly asset: string;
  /** Status that was asked for; null when all were. */
  readonly statusAsked: string | null;
  /** In the list of TP/SL orders, or attached to an open position. */
  readonly source: 'list' | 'position';
}

/** Take-profit/stop-loss orders, each time that they were polled. */
export const tpslOrderObservations = rowLogTable<AccountRow<SeenTpslOrder>>({
  name: 'tpsl_order_observations',
  columns: [
    ...answerColumns<SeenTpslOrder>(),
    field('tpsl_order_id', text, (it) => it.tpslId),
    field('asset', lowCardinality, (it) => it.asset),
    field('requested_status', nameOrEmpty, (it) => it.statusAsked),
    field('source', oneOf('list', 'position'), (it) => it.source),
    field('quantity', nullable(decimal), (it) => it.quantity),
    field('take_profit_price', nullable(decimal), (it) => it.takeProfitPrice),
    field('stop_loss_price', nullable(decimal), (it) => it.stopLossPrice),
  ],
});
