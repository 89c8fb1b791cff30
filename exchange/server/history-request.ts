import { chanceHistory, type HistoryRange, type Period, parsePeriod } from '../chance-history.js';
import type { ChancePoint, ExchangeCore } from '../engine/index.js';
import { parseIsoSeconds } from './iso-time.js';

/**
 * The range and period of a history request, or what is wrong with it.
 * @param request.period undefined means raw points
 */
export function readHistoryRequest(request: {
  readonly period: string | undefined;
  readonly from: string;
  readonly to: string;
}): HistoryRange | string {
  const period: Period | undefined = request.period === undefined ? { unit: 'raw' } : parsePeriod(request.period);
  if (!period) return `unknown period ${JSON.stringify(request.period?.slice(0, 40))}`;
  const from = parseIsoSeconds(request.from);
  if (from === undefined) return `from is not an ISO 8601 time: ${JSON.stringify(request.from.slice(0, 40))}`;
  const to = parseIsoSeconds(request.to);
  if (to === undefined) return `to is not an ISO 8601 time: ${JSON.stringify(request.to.slice(0, 40))}`;
  return from > to ? 'from is after to' : { period, from, to };
}

/** A market's history; undefined when it has too many points. */
export function readHistory(
  core: Pick<ExchangeCore, 'lastChanceAtOrBefore'>,
  marketId: string,
  range: HistoryRange,
): readonly ChancePoint[] | undefined {
  return chanceHistory((seconds) => core.lastChanceAtOrBefore(marketId, seconds), range);
}
