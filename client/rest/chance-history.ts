import { UsageError } from '../../core/index.js';
import { decodeChanceHistory } from '../decode/chance-history.js';
import type { ChancePoint } from '../decode/chance-point.js';
import { PERIOD_CODES, periodSchema } from '../wire/index.js';
import type { Operation } from './operation.js';
import { isoTime, segment } from './params.js';

export interface ChanceHistoryQuery {
  readonly eventId: string;
  /** Also called outcome ID. */
  readonly marketId: string;
  /** A period code of part 6.2 (case-sensitive), or a custom number of seconds as text. */
  readonly period: string;
  /** Unix seconds. */
  readonly from: number;
  /** Unix seconds. */
  readonly to: number;
}

/**
 * `GET /api/events/{eventId}/outcomes/{outcomeId}/history`, part 4.5. The first point is an anchor, the last known
 * probability at or before `from`; a range without data is a flat line of two points (part 6.2).
 */
export const chanceHistoryOperation: Operation<ChanceHistoryQuery, ChancePoint> = {
  name: 'chance-history',
  method: 'GET',
  buildRequest({ eventId, marketId, period, from, to }) {
    return {
      path: `/api/events/${segment('eventId', eventId)}/outcomes/${segment('marketId', marketId)}/history`,
      query: { period: checkPeriod(period), from: isoTime('from', from), to: isoTime('to', to) },
      about: { event: eventId, market: marketId, period, from, to },
    };
  },
  decode: (body, { marketId }) => decodeChanceHistory(body, marketId),
};

/**
 * @param name of the period in errors
 * @throws UsageError for an invalid period
 */
export function checkPeriod(period: string, name = 'period'): string {
  if (periodSchema.safeParse(period).success) return period;
  throw new UsageError(
    `${name} is ${JSON.stringify(period)}; give ${PERIOD_CODES.join(', ')} (case-sensitive) or a number of seconds as text`,
  );
}
