import { type AccountRow, answerColumns, field } from './account-row.js';
import { lowCardinality, u32 } from './column-types.js';
import { rowLogTable } from './row-table.js';

/** The content of one page of a list. */
export interface AccountPage {
  /** Name of the client's operation. */
  readonly operation: string;
  /** The requested asset; empty for other lists. */
  readonly asset: string;
  /** Number of records that became rows of the list's table. */
  readonly items: number;
  /** Number of entries that became dead letters instead. */
  readonly rejectedItems: number;
}

/**
 * Every page that was understood, also of an empty list. It shows whether a poll is completely in the tables: receipts are
 * on another topic and records go into other tables, so they may arrive in any order.
 */
export const accountPages = rowLogTable<AccountRow<AccountPage>>({
  name: 'account_pages',
  feedsMaterializedViews: true,
  columns: [
    ...answerColumns<AccountPage>(),
    field('operation', lowCardinality, (it) => it.operation),
    field('asset', lowCardinality, (it) => it.asset),
    field('items', u32, (it) => it.items),
    field('rejected_items', u32, (it) => it.rejectedItems),
  ],
});
