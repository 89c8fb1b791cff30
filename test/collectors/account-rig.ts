import { type DecodedList, type InvalidBody, type LosslessJson, parseLossless } from '../../client/index.js';
import { type RawRecord, type RecordKind, TOPICS } from '../../core/index.js';
import type { CollectorRig } from './rig.js';

/** Every second, for tests that wait for polls. */
export const OFTEN = '* * * * * *';
export const POLL_OFTEN = {
  holdingsSchedule: OFTEN,
  tradesSchedule: OFTEN,
  transactionsSchedule: OFTEN,
  tpslSchedule: OFTEN,
  statsSchedule: OFTEN,
  activitySchedule: OFTEN,
  requestsPerSecond: 200,
} as const;

/** Account records of a kind, in the order of their session. */
export async function recordsOfKind(rig: Pick<CollectorRig, 'records'>, kind: RecordKind): Promise<RawRecord[]> {
  return (await rig.records(TOPICS.account)).filter((record) => record.kind === kind);
}

/** What the successful answers among the records list, in order. */
export function listed<T>(
  records: readonly RawRecord[],
  decode: (body: LosslessJson) => DecodedList<T> | InvalidBody,
): { item: T; record: RawRecord }[] {
  return records
    .filter(({ request: req, encoding: enc }) => req['status'] === 200 && enc === undefined)
    .flatMap((record) => {
      const list = decode(parseLossless(JSON.stringify(record.body)));
      return list.ok ? list.items.map((item) => ({ item, record })) : [];
    });
}
