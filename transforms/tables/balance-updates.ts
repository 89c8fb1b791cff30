import { exportedByAccount } from './account-row.js';
import { decimal, lowCardinality, micros, nameOrEmpty, nullable, oneOf, ratio, text } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** A balance from the balance stream, part 6.4. */
export interface BalanceUpdateRow {
  /** Unix microseconds. */
  readonly receivedAt: number;
  readonly account: string;
  readonly connection: string;
  /** `list`: from the response to AUTH. `update`: a change. */
  readonly source: 'list' | 'update';
  readonly userId: string | null;
  readonly assetId: string;
  readonly balance: string;
  readonly free: string | null;
  readonly cost: string | null;
  readonly averageOpenPrice: string | null;
}

export const balanceUpdates = rowLogTable<BalanceUpdateRow>({
  name: 'balance_updates',
  exported: exportedByAccount(['asset', 'received_at'], ['user_id']),
  columns: [
    column('received_at', micros, (row) => row.receivedAt),
    column('account', lowCardinality, (row) => row.account),
    column('connection_id', lowCardinality, (row) => row.connection),
    column('source', oneOf('list', 'update'), (row) => row.source),
    column('user_id', nameOrEmpty, (row) => row.userId),
    column('asset', text, (row) => row.assetId),
    column('balance', decimal, (row) => row.balance),
    column('free', nullable(decimal), (row) => row.free),
    column('cost', nullable(decimal), (row) => row.cost),
    column('average_open_price', nullable(ratio), (row) => row.averageOpenPrice),
  ],
});
