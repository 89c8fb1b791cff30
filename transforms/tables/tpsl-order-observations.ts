import type { TpslOrder } from '../../client/index.js';
import { type AccountRow, answerColumns, exportedByAccount, field } from './account-row.js';
import { decimal, lowCardinality, nameOrEmpty, nullable, oneOf, text } from './column-types.js';
import { rowLogTable } from './row-table.js';

/** A take-profit/stop-loss order and the request that returned it. */
export interface ObservedTpslOrder extends TpslOrder {
  /** The requested asset; empty when the request did not have it. */
  readonly asset: string;
  /** The requested status; null for all. */
  readonly statusAsked: string | null;
  /** Whether it was in the list of TP/SL orders or attached to an open position. */
  readonly source: 'list' | 'position';
}

/** Take-profit/stop-loss orders, one row per poll. */
export const tpslOrderObservations = rowLogTable<AccountRow<ObservedTpslOrder>>({
  name: 'tpsl_order_observations',
  exported: exportedByAccount(['poll_id', 'asset', 'tpsl_order_id']),
  columns: [
    ...answerColumns<ObservedTpslOrder>(),
    field('tpsl_order_id', text, (it) => it.tpslId),
    field('asset', lowCardinality, (it) => it.asset),
    field('requested_status', nameOrEmpty, (it) => it.statusAsked),
    field('source', oneOf('list', 'position'), (it) => it.source),
    field('quantity', nullable(decimal), (it) => it.quantity),
    field('take_profit_price', nullable(decimal), (it) => it.takeProfitPrice),
    field('stop_loss_price', nullable(decimal), (it) => it.stopLossPrice),
  ],
});
