import { type Activity, decodeActivity } from '../../client/index.js';
import { activityRecords } from '../tables/activity-records.js';
import { type AccountContext, accountAnswer } from './account-answer.js';
import { areExact, exactOrDead } from './amounts.js';
import { areSaneIds } from './ids.js';

/** A page of everybody's trades (part 4.4) → `activity_records`. */
export const transformActivity = accountAnswer(
  decodeActivity,
  (item: Activity, { answer, output, received }: AccountContext) => {
    const { tradeRecordId, userId, marketId, quantity, price } = item;
    if (!areSaneIds({ tra: tradeRecordId, u: userId, oi: marketId }, output)) return false;
    const what = `activity ${tradeRecordId}`;
    if (!areExact(what, { q: quantity, pr: price }, item, output)) return false;
    const record = {
      ...item,
      username: received.privacy.username(item.username),
      eventVolume: exactOrDead(item.eventVolume, `${what} ev`, output),
      userVolume: exactOrDead(item.userVolume, `${what} uv`, output),
    };
    output.row(activityRecords, { answer, record });
    return true;
  },
);
