import { type AccountRow, answerColumns, field } from './account-row.js';
import { lowCardinality, u32 } from './column-types.js';
import { rowLogTable } from './row-table.js';

/** What one page of an answer held. */
export interface AccountPage {
  /** Name of the client's operation. */
  readonly operation: string;
  /** That was asked about; empty for lists of no asset. */
  readonly asset: string;
  /** Records that became rows of the list's table. */
  readonly items: number;
  /** Entries that became dead letters instead. */
  readonly rejectedItems: number;
}

/**
 * Every page that was understood: by it a poll is known to be in the tables as a whole, also one of an empty list. Its
 * receipt travels on another topic, its records go into other tables: any of them may be there first.
 */
export const accountPages = rowLogTable<AccountRow<AccountPage>>({
  name: 'account_pages',
  columns: [
    ...answerColumns<AccountPage>(),
    field('operation', lowCardinality, (it) => it.operation),
    field('asset', lowCardinality, (it) => it.asset),
    field('items', u32, (it) => it.items),
    field('rejected_items', u32, (it) => it.rejectedItems),
  ],
});
