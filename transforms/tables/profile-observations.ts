import type { PositionStats, ProfileStats } from '../../client/index.js';
import { type AccountRow, answerColumns, exportedByAccount, field } from './account-row.js';
import { bool, decimal, i64, micros, nameOrEmpty, nullable, text } from './column-types.js';
import { rowLogTable } from './row-table.js';

/** Profiles and statistics of users, one row per poll. */
export const profileObservations = rowLogTable<AccountRow<ProfileStats>>({
  name: 'profile_observations',
  exported: exportedByAccount(['user_id', 'received_at'], ['user_id', 'username']),
  columns: [
    ...answerColumns<ProfileStats>(),
    field('user_id', text, (it) => it.userId),
    field('username', nullable(text), (it) => it.username),
    field('joined_at', nullable(micros), (it) => it.joinedAtMicros),
    field('is_self', nullable(bool), (it) => it.me),
    field('position_value', nullable(decimal), (it) => it.positionValue),
    field('volume_traded', nullable(decimal), (it) => it.volumeTraded),
    field('markets_traded', nullable(i64), (it) => it.marketsTraded),
  ],
});

/** Statistics of a user's positions, and the requested user. */
export interface PositionStatsOf extends PositionStats {
  /** Empty when the request did not have it. */
  readonly userId: string;
}

/** Statistics of users' positions, one row per poll. */
export const positionStatsObservations = rowLogTable<AccountRow<PositionStatsOf>>({
  name: 'position_stats_observations',
  exported: exportedByAccount(['user_id', 'received_at'], ['user_id']),
  columns: [
    ...answerColumns<PositionStatsOf>(),
    field('user_id', text, (it) => it.userId),
    field('tab', nameOrEmpty, (it) => it.tab),
    field('total_items', nullable(i64), (it) => it.totalItems),
    field('opened_at', nullable(micros), (it) => it.openedAtMicros),
    field('closed_at', nullable(micros), (it) => it.closedAtMicros),
  ],
});
