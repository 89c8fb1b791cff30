import type { TradeRecord } from '../../client/index.js';
import { type AccountRow, answerColumns, exportedByAccount, field } from './account-row.js';
import { decimal, micros, nameOrEmpty, nullable, text, textOrEmpty } from './column-types.js';
import { column, rowReplacingTable } from './row-table.js';

/** A listed side of a fill. */
interface TradeRow extends AccountRow<TradeRecord> {
  /** When page 0 of the pass over the pages was received, Unix microseconds. */
  readonly passBeganAt: number;
}

/** An account's sides of fills, by account and trade record. */
export const tradeRecords = rowReplacingTable<TradeRow>({
  name: 'trade_records',
  exported: exportedByAccount(['trade_record_id'], ['user_id']),
  id: ['account', 'trade_record_id'],
  sortedBy: ['account', 'market', 'trade_record_id'],
  version: 'received_at',
  feedsMaterializedViews: true,
  columns: [
    ...answerColumns<TradeRecord>(),
    column('pass_began_at', micros, (row: TradeRow) => row.passBeganAt),
    field('trade_record_id', text, (it) => it.tradeRecordId),
    field('trade_id', textOrEmpty, (it) => it.tradeId),
    field('user_id', nameOrEmpty, (it) => it.userId),
    field('order_id', textOrEmpty, (it) => it.orderId),
    field('side', nameOrEmpty, (it) => it.side),
    field('event', nameOrEmpty, (it) => it.eventId),
    field('market', nameOrEmpty, (it) => it.marketId),
    field('asset', nameOrEmpty, (it) => it.assetId),
    field('quantity', decimal, (it) => it.quantity),
    field('price', decimal, (it) => it.price),
    field('fee', nullable(decimal), (it) => it.fee),
    field('executed_at', nullable(micros), (it) => it.executedAtMicros),
  ],
});
