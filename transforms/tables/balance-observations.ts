import type { Balance } from '../../client/index.js';
import { type AccountRow, answerColumns, exportedByAccount, field } from './account-row.js';
import { decimal, lowCardinality, nullable, text } from './column-types.js';
import { rowLogTable } from './row-table.js';

/** Balances, one row per poll. */
export const balanceObservations = rowLogTable<AccountRow<Balance>>({
  name: 'balance_observations',
  exported: exportedByAccount(['poll_id', 'asset']),
  columns: [
    ...answerColumns<Balance>(),
    field('asset', lowCardinality, (it) => it.assetId),
    field('balance', decimal, (it) => it.balance),
    field('free', nullable(decimal), (it) => it.free),
    field('name', nullable(text), (it) => it.name),
    field('ticker', nullable(text), (it) => it.ticker),
    field('value', nullable(decimal), (it) => it.value),
  ],
});
