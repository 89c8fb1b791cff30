import type { OrderRecord } from '../../client/index.js';
import { type AccountRow, answerColumns, exportedByAccount, field } from './account-row.js';
import { decimal, micros, nameOrEmpty, nullable, text } from './column-types.js';
import { rowReplacingTable } from './row-table.js';

/** Orders of the order history, by account and order: the latest observation counts. */
export const orderRecords = rowReplacingTable<AccountRow<OrderRecord>>({
  name: 'order_records',
  exported: exportedByAccount(['order_id'], ['user_id']),
  feedsMaterializedViews: true,
  id: ['account', 'order_id'],
  version: 'received_at',
  columns: [
    ...answerColumns<OrderRecord>(),
    field('order_id', text, (it) => it.orderId),
    field('user_id', nameOrEmpty, (it) => it.userId),
    field('event', nameOrEmpty, (it) => it.eventId),
    field('market', nameOrEmpty, (it) => it.marketId),
    field('asset', nameOrEmpty, (it) => it.assetId),
    field('side', nameOrEmpty, (it) => it.side),
    field('type', nameOrEmpty, (it) => it.orderType),
    field('status', nameOrEmpty, (it) => it.status),
    field('price', nullable(decimal), (it) => it.price),
    field('original_quantity', nullable(decimal), (it) => it.originalQuantity),
    field('filled_quantity', nullable(decimal), (it) => it.filledQuantity),
    field('placed_at', nullable(micros), (it) => it.placedAtMicros),
    field('expires_at', nullable(micros), (it) => it.expiresAtMicros),
  ],
});
