import type { Transaction } from '../../client/index.js';
import { type AccountRow, answerColumns, exportedByAccount, field } from './account-row.js';
import { bool, decimal, micros, nameOrEmpty, nullable, text } from './column-types.js';
import { rowReplacingTable } from './row-table.js';

/** Movements of an account's money, by account and transaction. */
export const transactionRecords = rowReplacingTable<AccountRow<Transaction>>({
  name: 'transaction_records',
  exported: exportedByAccount(['transaction_id'], ['user_id']),
  id: ['account', 'transaction_id'],
  version: 'received_at',
  columns: [
    ...answerColumns<Transaction>(),
    field('transaction_id', text, (it) => it.transactionId),
    field('user_id', nameOrEmpty, (it) => it.userId),
    field('asset', nameOrEmpty, (it) => it.assetId),
    field('type', nameOrEmpty, (it) => it.transactionType),
    field('status', nameOrEmpty, (it) => it.status),
    field('amount', decimal, (it) => it.amount),
    field('fee', nullable(decimal), (it) => it.fee),
    field('created_at', nullable(micros), (it) => it.createdAtMicros),
    field('event_question', nullable(text), (it) => it.eventQuestion),
    field('event_slug', nullable(text), (it) => it.eventSlug),
    field('event_icon_url', nullable(text), (it) => it.eventIconUrl),
    field('outcome_name', nullable(text), (it) => it.outcomeName),
    field('token_name', nullable(text), (it) => it.tokenName),
    field('is_primary', nullable(bool), (it) => it.primary),
    field('external_transaction_id', nullable(text), (it) => it.externalTransactionId),
    field('withdrawal_address', nullable(text), (it) => it.withdrawalAddress),
    field('blockchain_url', nullable(text), (it) => it.blockchainUrl),
    field('blockchain_name', nullable(text), (it) => it.blockchainName),
  ],
});
