import type { PositionStats, ProfileStats } from '../../client/index.js';
import { type AccountRow, answerColumns, field } from './account-row.js';
import { bool, decimal, i64, micros, nameOrEmpty, nullable, text } from './column-types.js';
import { rowLogTable } from './row-table.js';

/** Profiles and figures of users, each time that they were polled. */
export const profileObservations = rowLogTable<AccountRow<ProfileStats>>({
  name: 'profile_observations',
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

/** Figures of a user's positions, and which user was asked about. */
export interface PositionStatsOf extends PositionStats {
  /** Empty when the request did not say. */
  readonly userId: string;
}

/** Figures of users' positions, each time that they were polled. */
export const positionStatsObservations = rowLogTable<AccountRow<PositionStatsOf>>({
  name: 'position_stats_observations',
  columns: [
    ...answerColumns<PositionStatsOf>(),
    field('user_id', text, (it) => it.userId),
    field('tab', nameOrEmpty, (it) => it.tab),
    field('total_items', nullable(i64), (it) => it.totalItems),
    field('opened_at', nullable(micros), (it) => it.openedAtMicros),
    field('closed_at', nullable(micros), (it) => it.closedAtMicros),
  ],
});
