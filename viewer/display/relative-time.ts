/** Milliseconds of the units of Grafana's intervals, and of its times as far as they always have the same length. */
export const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Months of the units that have no fixed length. */
const UNIT_MONTHS: Readonly<Record<string, number>> = { M: 1, Q: 3, y: 12 };
/** The Monday before the Unix epoch. */
const FIRST_WEEK_MS = -3 * 86_400_000;

const UNIT_NAMES: Readonly<Record<string, string>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  M: 'month',
  Q: 'quarter',
  y: 'year',
};

const STEP = /([+-])(\d{0,9})([smhdwMQy])|\/([smhdwMQy])/g;

/**
 * A time as in Grafana: `now`, followed by any of `-6h`, `+1d` (units s, m, h, d, w, M, Q, y) and `/d` (the beginning of that unit
 * in UTC, or its end for the end of a range; weeks begin on Monday), in order; Unix milliseconds; or an ISO 8601 time in UTC.
 * @param now Unix milliseconds
 * @returns Unix milliseconds, NaN for a time that no date has; undefined for any other text
 */
export function parseTime(text: string, now: number, bound: 'from' | 'to' = 'from'): number | undefined {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text))) return Date.parse(text);
  if (!/^now(?:[+-]\d{0,9}[smhdwMQy]|\/[smhdwMQy])*$/.test(text)) return undefined;
  let time = now;
  for (const [, sign, amount = '', unit = '', rounded] of text.matchAll(STEP)) {
    if (rounded !== undefined) {
      const start = beginningOf(time, rounded);
      time = bound === 'from' ? start : moved(start, 1, rounded) - 1;
    } else {
      time = moved(time, (sign === '-' ? -1 : 1) * (amount === '' ? 1 : Number(amount)), unit);
    }
  }
  return time;
}

/** A time moved by a length such as `1d` or `-1M`; undefined for a text that is none. */
export function movedBy(time: number, length: string): number | undefined {
  const [, sign, amount = '', unit = ''] = /^(-?)(\d{1,9})([smhdwMQy])$/.exec(length) ?? [];
  return amount === '' ? undefined : moved(time, (sign === '-' ? -1 : 1) * Number(amount), unit);
}

/** Milliseconds of a length of time such as `90s` or `2h`; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (UNIT_MS[unit] ?? 0);
}

/** As in Grafana, `Last 1 hour` of `now-1h`, and of `now-1h/h`; undefined for any other beginning of a range that ends now. */
export function inWords(start: string): string | undefined {
  const [, amount, unit = ''] = /^now-(\d{1,9})([smhdwMQy])(?:\/|$)/.exec(start) ?? [];
  if (amount === undefined) return undefined;
  const count = Number(amount);
  return `Last ${count} ${UNIT_NAMES[unit]}${count === 1 ? '' : 's'}`;
}

function moved(time: number, amount: number, unit: string): number {
  const months = UNIT_MONTHS[unit];
  if (months === undefined) return time + amount * (UNIT_MS[unit] ?? 0);
  const at = new Date(time);
  const month = at.getUTCMonth() + amount * months;
  const days = new Date(Date.UTC(at.getUTCFullYear(), month + 1, 0)).getUTCDate();
  // The 31st of a shorter month is its last day.
  return at.setUTCMonth(month, Math.min(at.getUTCDate(), days));
}

function beginningOf(time: number, unit: string): number {
  const months = UNIT_MONTHS[unit];
  if (months === undefined) {
    const size = UNIT_MS[unit] ?? 1;
    const first = unit === 'w' ? FIRST_WEEK_MS : 0;
    return Math.floor((time - first) / size) * size + first;
  }
  const at = new Date(time);
  return Date.UTC(at.getUTCFullYear(), Math.floor(at.getUTCMonth() / months) * months, 1);
}
