import { exportedByAccount } from './account-row.js';
import { decimal, lowCardinality, micros, nameOrEmpty, nullable, oneOf, text, textOrEmpty } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** A message of the order updates stream, part 6.3. */
export interface OrderUpdateRow {
  /** Unix microseconds. */
  readonly receivedAt: number;
  readonly account: string;
  readonly connection: string;
  readonly type: 'order' | 'tpsl';
  /** ID of the order, or of the TP/SL order. */
  readonly orderId: string;
  readonly userId: string | null;
  readonly status: string | null;
  /** These fields are set for TP/SL orders only. */
  readonly assetId: string | null;
  readonly quantity: string | null;
  readonly takeProfitPrice: string | null;
  readonly stopLossPrice: string | null;
}

export const orderUpdates = rowLogTable<OrderUpdateRow>({
  name: 'order_updates',
  exported: exportedByAccount(['type', 'order_id', 'received_at'], ['user_id']),
  columns: [
    column('received_at', micros, (row) => row.receivedAt),
    column('account', lowCardinality, (row) => row.account),
    column('connection_id', lowCardinality, (row) => row.connection),
    column('type', oneOf('order', 'tpsl'), (row) => row.type),
    column('order_id', text, (row) => row.orderId),
    column('user_id', nameOrEmpty, (row) => row.userId),
    column('status', nameOrEmpty, (row) => row.status),
    column('asset', textOrEmpty, (row) => row.assetId),
    column('quantity', nullable(decimal), (row) => row.quantity),
    column('take_profit_price', nullable(decimal), (row) => row.takeProfitPrice),
    column('stop_loss_price', nullable(decimal), (row) => row.stopLossPrice),
  ],
});
