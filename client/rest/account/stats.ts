import {
  decodePositionStats,
  decodeProfileStats,
  type PositionStats,
  type ProfileStats,
} from '../../decode/account/activity.js';
import { segment } from '../params.js';
import type { AccountOperation } from './operation.js';

export interface UserQuery {
  /** The account's own, or another user's. */
  readonly userId: string;
}

/** `GET /api/history/stats/profile/{userId}`, part 4.4. */
export const profileStatsOperation: AccountOperation<UserQuery, ProfileStats> = {
  name: 'profile-stats',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest: ({ userId }) => ({ path: `/api/history/stats/profile/${segment('userId', userId)}` }),
  decode: decodeProfileStats,
};

/** `GET /api/history/stats/profile/{userId}/positions`, part 4.4. */
export const positionStatsOperation: AccountOperation<UserQuery, PositionStats> = {
  name: 'position-stats',
  method: 'GET',
  authMethod: 'api-key',
  buildRequest: ({ userId }) => ({ path: `/api/history/stats/profile/${segment('userId', userId)}/positions` }),
  decode: decodePositionStats,
};
