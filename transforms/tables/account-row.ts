import { TOPICS } from '../../core/index.js';
import type { ExportedRows } from '../../warehouse/index.js';
import { type ColumnType, lowCardinality, micros, text, u32 } from './column-types.js';
import { column, type RowColumn } from './row-table.js';

/** The response that a row comes from. */
export interface AnswerRef {
  /** Unix microseconds. */
  readonly receivedAt: number;
  /** Configured name of the account; empty for activity, which covers all users. */
  readonly account: string;
  /** UUID of the poll. */
  readonly pollId: string;
  /** Number of the page in its poll, from 0. */
  readonly page: number;
}

/** A row of a listed record. */
export interface AccountRow<T> {
  readonly answer: AnswerRef;
  readonly record: T;
}

/** The columns of the response. */
export const answerColumns = <T>(): readonly RowColumn<AccountRow<T>>[] => [
  column('received_at', micros, (row: AccountRow<T>) => row.answer.receivedAt),
  column('account', lowCardinality, (row: AccountRow<T>) => row.answer.account),
  column('poll_id', text, (row: AccountRow<T>) => row.answer.pollId),
  column('page', u32, (row: AccountRow<T>) => row.answer.page),
];

/** A column of the record. */
export function field<T, V>(name: string, type: ColumnType<V>, get: (record: T) => V): RowColumn<AccountRow<T>> {
  return column(name, type, (row: AccountRow<T>) => get(row.record));
}

/** How the rows of a table about our accounts are exported: sorted by account, then by these columns. */
export function exportedByAccount(order: readonly string[], users: readonly string[] = []): ExportedRows {
  return {
    topics: [TOPICS.account],
    time: ['received_at'],
    order: ['account', ...order],
    ...(users.length > 0 && { users }),
    ofAccounts: true,
  };
}
