import type { LogPosition } from './positions.js';

const DAY_MS = 86_400_000;

/** The UTC day this many days after another one. */
export const shiftedDay = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/**
 * Why rows of a UTC day may still arrive; undefined when the day is finished.
 * @param nowMs Unix milliseconds
 */
export function whyUnfinished(
  day: string,
  positions: readonly LogPosition[],
  finishedAfterHours: number,
  nowMs: number,
): string | undefined {
  const end = Date.parse(`${day}T00:00:00Z`) + DAY_MS;
  if (nowMs < end) return 'the day is not over';
  const behind = positions.find(({ pendingSince }) => pendingSince !== null && pendingSince < end * 1000);
  if (behind) return `the transform worker has not processed partition ${behind.partition} of ${behind.topic} past it`;
  if (nowMs < end + finishedAfterHours * 3_600_000) {
    return `it ended less than ${finishedAfterHours} h ago (--finished-after-hours), and history may still be fetched`;
  }
  return undefined;
}
