import { activitySchema, positionStatsSchema, profileStatsSchema } from '../../wire/account-records.js';
import type { Decimal } from '../../wire/decimal.js';
import type { LosslessJson } from '../../wire/json-number.js';
import type { DecodedList, InvalidBody } from '../result.js';
import { decodeRecord, decodeRecords } from './records.js';

/** An item of the activity feed, of all users. Absent fields are null. */
export interface Activity {
  readonly tradeRecordId: string;
  readonly userId: string | null;
  readonly username: string | null;
  /** Also called outcome ID. */
  readonly marketId: string | null;
  readonly outcomeName: string | null;
  /** Position direction. */
  readonly position: string | null;
  /** BUY or SELL. */
  readonly side: string | null;
  /** Shares. */
  readonly quantity: Decimal;
  readonly executedAtMicros: number | null;
  readonly eventQuestion: string | null;
  readonly eventIconUrl: string | null;
  readonly eventSlug: string | null;
  readonly tokenName: string | null;
  readonly primary: boolean | null;
  /** USDC per share. */
  readonly price: Decimal;
  readonly eventVolume: Decimal | null;
  readonly userVolume: Decimal | null;
}

/** The list of `GET /api/history/activity`, part 4.4. */
export function decodeActivity(body: LosslessJson): DecodedList<Activity> | InvalidBody {
  return decodeRecords(
    body,
    activitySchema,
    (wire): Activity => ({
      tradeRecordId: wire.tra,
      userId: wire.u ?? null,
      username: wire.n ?? null,
      marketId: wire.oi ?? null,
      outcomeName: wire.on ?? null,
      position: wire.p ?? null,
      side: wire.si ?? null,
      quantity: wire.q,
      executedAtMicros: wire.x ?? null,
      eventQuestion: wire.eq ?? null,
      eventIconUrl: wire.ei ?? null,
      eventSlug: wire.es ?? null,
      tokenName: wire.tn ?? null,
      primary: wire.ip ?? null,
      price: wire.pr,
      eventVolume: wire.ev ?? null,
      userVolume: wire.uv ?? null,
    }),
  );
}

/** A user's profile and statistics. Absent fields are null. */
export interface ProfileStats {
  readonly userId: string;
  readonly username: string | null;
  readonly joinedAtMicros: number | null;
  /** Whether it is the requesting account. */
  readonly me: boolean | null;
  /** USDC. */
  readonly positionValue: Decimal | null;
  /** USDC. */
  readonly volumeTraded: Decimal | null;
  readonly marketsTraded: number | null;
}

/** The response of `GET /api/history/stats/profile/{userId}`, part 4.4. */
export function decodeProfileStats(body: LosslessJson): DecodedList<ProfileStats> | InvalidBody {
  return decodeRecord(
    body,
    profileStatsSchema,
    ({ profile, cards }): ProfileStats => ({
      userId: profile.userId,
      username: profile.username ?? null,
      joinedAtMicros: profile.joinedAt ?? null,
      me: profile.me ?? null,
      positionValue: cards?.positionValue ?? null,
      volumeTraded: cards?.volumeTraded ?? null,
      marketsTraded: cards?.marketsTraded ?? null,
    }),
  );
}

/** Statistics of a user's positions. Absent fields are null. */
export interface PositionStats {
  /** The active tab. */
  readonly tab: string | null;
  readonly totalItems: number | null;
  readonly openedAtMicros: number | null;
  readonly closedAtMicros: number | null;
}

/** The response of `GET /api/history/stats/profile/{userId}/positions`, part 4.4. */
export function decodePositionStats(body: LosslessJson): DecodedList<PositionStats> | InvalidBody {
  return decodeRecord(
    body,
    positionStatsSchema,
    (wire): PositionStats => ({
      tab: wire.tab ?? null,
      totalItems: wire.ti ?? null,
      openedAtMicros: wire.od ?? null,
      closedAtMicros: wire.cd ?? null,
    }),
  );
}
