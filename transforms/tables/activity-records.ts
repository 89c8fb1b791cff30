import type { Activity } from '../../client/index.js';
import { type AccountRow, answerColumns, field } from './account-row.js';
import { bool, decimal, micros, nameOrEmpty, nullable, text, textOrEmpty } from './column-types.js';
import { rowReplacingTable } from './row-table.js';

/** Items of the activity feed of all users, by trade record, regardless of the polling account. */
export const activityRecords = rowReplacingTable<AccountRow<Activity>>({
  name: 'activity_records',
  id: ['trade_record_id'],
  sortedBy: ['executed_day', 'market', 'trade_record_id'],
  version: 'received_at',
  feedsMaterializedViews: true,
  columns: [
    ...answerColumns<Activity>(),
    field('trade_record_id', text, (it) => it.tradeRecordId),
    field('user_id', textOrEmpty, (it) => it.userId),
    field('username', nullable(text), (it) => it.username),
    field('market', nameOrEmpty, (it) => it.marketId),
    field('outcome_name', nullable(text), (it) => it.outcomeName),
    field('position', nameOrEmpty, (it) => it.position),
    field('side', nameOrEmpty, (it) => it.side),
    field('quantity', decimal, (it) => it.quantity),
    field('price', decimal, (it) => it.price),
    field('executed_at', nullable(micros), (it) => it.executedAtMicros),
    field('event_question', nullable(text), (it) => it.eventQuestion),
    field('event_slug', nameOrEmpty, (it) => it.eventSlug),
    field('event_icon_url', nullable(text), (it) => it.eventIconUrl),
    field('token_name', nameOrEmpty, (it) => it.tokenName),
    field('is_primary', nullable(bool), (it) => it.primary),
    field('event_volume', nullable(decimal), (it) => it.eventVolume),
    field('user_volume', nullable(decimal), (it) => it.userVolume),
  ],
});
