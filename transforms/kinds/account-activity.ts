import { type Activity, decodeActivity } from '../../client/index.js';
import { activityRecords } from '../tables/activity-records.js';
import { type AccountContext, accountList } from './account-list.js';
import { areExact, exactOrDead } from './amounts.js';
import { areValidIds } from './ids.js';

/** A page of the activity feed of all users (part 4.4) → `activity_records`. */
export const transformActivity = accountList(
  decodeActivity,
  (item: Activity, { answer, output, received }: AccountContext) => {
    const { tradeRecordId, userId, marketId, quantity, price } = item;
    if (!areValidIds({ tra: tradeRecordId, u: userId, oi: marketId }, output)) return false;
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
