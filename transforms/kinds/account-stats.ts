import { decodePositionStats, decodeProfileStats, type PositionStats, type ProfileStats } from '../../client/index.js';
import { positionStatsObservations, profileObservations } from '../tables/profile-observations.js';
import { type AccountContext, accountList } from './account-list.js';
import { exactOrDead } from './amounts.js';
import { areValidIds } from './ids.js';
import { integerOrDead } from './optional-fields.js';
import { textIn } from './request-fields.js';

/** A user's profile and statistics (part 4.4) → `profile_observations`. */
export const transformProfileStats = accountList(
  decodeProfileStats,
  (stats: ProfileStats, { answer, output, received }: AccountContext) => {
    if (!areValidIds({ 'profile.userId': stats.userId }, output)) return false;
    const record = {
      ...stats,
      username: received.privacy.username(stats.username),
      positionValue: exactOrDead(stats.positionValue, 'cards.positionValue', output),
      volumeTraded: exactOrDead(stats.volumeTraded, 'cards.volumeTraded', output),
      marketsTraded: integerOrDead(stats.marketsTraded, 'cards.marketsTraded', output),
    };
    output.row(profileObservations, { answer, record });
    return true;
  },
);

/** Statistics of a user's positions (part 4.4) → `position_stats_observations`. */
export const transformPositionStats = accountList(
  decodePositionStats,
  (stats: PositionStats, { answer, output, received }: AccountContext) => {
    const userId = userOf(textIn(received.record.request, 'path') ?? '');
    const totalItems = integerOrDead(stats.totalItems, 'ti', output);
    output.row(positionStatsObservations, { answer, record: { ...stats, userId, totalItems } });
    return true;
  },
);

/** The user ID in `/api/history/stats/profile/{userId}/positions`; empty for another path. */
function userOf(path: string): string {
  const encoded = /\/profile\/([^/]{1,256})\/positions$/.exec(path)?.[1] ?? '';
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
