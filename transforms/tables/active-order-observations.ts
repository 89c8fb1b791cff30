import type { ActiveOrder } from '../../client/index.js';
import { type AccountRow, answerColumns, exportedByAccount, field } from './account-row.js';
import { decimal, nameOrEmpty, nullable, text } from './column-types.js';
import { rowLogTable } from './row-table.js';

/** Orders in the book, one row per poll. */
export const activeOrderObservations = rowLogTable<AccountRow<ActiveOrder>>({
  name: 'active_order_observations',
  exported: exportedByAccount(['poll_id', 'order_id']),
  columns: [
    ...answerColumns<ActiveOrder>(),
    field('order_id', text, (it) => it.orderId),
    field('status', nameOrEmpty, (it) => it.status),
    field('side', nameOrEmpty, (it) => it.side),
    field('price', nullable(decimal), (it) => it.price),
    field('quantity', decimal, (it) => it.quantity),
  ],
});
