/** Milliseconds of the units of Grafana's times and intervals. */
export const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * The time of `now`, `now-` with a number and one of s, m, h, d, w (and `/` with one of s, m, h, d: the beginning of that
 * second, minute, hour or day in UTC, or its end for the end of a range), Unix milliseconds, or an ISO 8601 time in UTC.
 * @param now Unix milliseconds
 * @returns Unix milliseconds; undefined for any other text
 */
export function parseTime(text: string, now: number, bound: 'from' | 'to' = 'from'): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text))) return Date.parse(text);
  const match = /^now(?:-(\d{1,9})([smhdw]))?(?:\/([smhd]))?$/.exec(text);
  if (!match) return undefined;
  const [, amount = '0', unit = 's', rounded] = match;
  const time = now - Number(amount) * (UNIT_MS[unit] ?? 0);
  if (rounded === undefined) return time;
  const size = UNIT_MS[rounded] ?? 1;
  const start = Math.floor(time / size) * size;
  return bound === 'from' ? start : start + size - 1;
}

/** Milliseconds of a length of time such as `90s` or `2h`; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (UNIT_MS[unit] ?? 0);
}
