import { scaleOf } from './unit-scales.js';

/** A formatted value: the number, and the unit beside it. */
export interface Formatted {
  readonly text: string;
  readonly suffix: string;
}

/** Decimals with which a number has about three significant digits. */
function ownDecimals(value: number): number {
  if (Number.isInteger(value)) return 0;
  return Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
}

const numbers = new Map<number, Intl.NumberFormat>();

/** With the sign that is as wide as a digit; a hyphen is shorter, and breaks lines. */
const withMinus = (text: string): string => text.replace(/^-|(?<=e)-/g, '−');

/** Rounded as Grafana rounds, with a comma between thousands, whatever the locale of the browser is. */
function fixed(value: number, decimals: number): string {
  const factor = 10 ** decimals;
  const rounded = Math.round(value * factor) / factor;
  if (/e/.test(String(rounded))) return withMinus(String(rounded));
  const format =
    numbers.get(decimals) ??
    new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  numbers.set(decimals, format);
  const text = format.format(rounded);
  return /^-[0.,]*$/.test(text) ? text.slice(1) : withMinus(text);
}

/** With an exponent: 2e−8; 0 has none. */
export const exponentText = (value: number): string =>
  value === 0 ? '0' : withMinus(Number(value.toPrecision(12)).toExponential());

const BOOLEANS: Readonly<Record<string, readonly [yes: string, no: string]>> = {
  bool: ['True', 'False'],
  bool_yes_no: ['Yes', 'No'],
  bool_on_off: ['On', 'Off'],
};

/** A number as a truth value, in one of Grafana's units for them. */
function booleanText(value: number, unit: string): string {
  const own = /^bool:([^/]*)(?:\/(.*))?$/s.exec(unit);
  const [yes, no] = own ? [own[1] ?? '', own[2] ?? '-'] : (BOOLEANS[unit] ?? ['True', 'False']);
  return value === 0 ? no : yes;
}

/** Sums of fractions of a second are not exact: less than this is none. */
const MIN_SECONDS = 1e-9;

/**
 * A number in one of Grafana's units.
 * @param unit ID of the unit; an unknown one is written after the number
 * @param decimals undefined: as many as are needed
 */
export function formatNumber(value: number, unit: string | undefined, decimals: number | undefined): Formatted {
  const plain = (number: number, suffix: string) => ({ text: fixed(number, decimals ?? ownDecimals(number)), suffix });
  const [, kind, own] = /^(suffix|prefix):(.*)$/s.exec(unit ?? '') ?? [];
  if (kind === 'suffix') return plain(value, ` ${own?.trim()}`);
  if (kind === 'prefix') return { ...plain(value, ''), text: `${own}${plain(value, '').text}` };
  switch (unit) {
    case undefined:
    case '':
    case 'none':
      return plain(value, '');
    case 'string':
      return { text: withMinus(String(value)), suffix: '' };
    case 'locale':
      return { text: withMinus(value.toLocaleString('en-US', { maximumFractionDigits: decimals ?? 3 })), suffix: '' };
    case 'percent':
      return plain(value, '%');
    case 'percentunit':
      return plain(value * 100, '%');
  }
  if (unit.startsWith('bool')) return { text: booleanText(value, unit), suffix: '' };
  if (unit === 'currencyUSD') {
    const { text, suffix } = formatNumber(Math.abs(value), 'count', decimals);
    return { text: `${value < 0 ? '−' : ''}$${text}`, suffix };
  }
  if (/^(dateTime|time:)/.test(unit)) return { text: formatTime(value, unit.includes('SSS')), suffix: '' };
  const scale = scaleOf(unit);
  if (!scale) return plain(value, ` ${unit}`);
  const size = value * scale.factor;
  if (unit === 's' && Math.abs(size) < MIN_SECONDS) return { text: '0', suffix: ' s' };
  const found = scale.steps.find(({ from, divisor }) =>
    size === 0 ? divisor <= scale.factor : Math.abs(size) >= from,
  );
  const { divisor, suffix, hasPlural } = found ?? { divisor: 1, suffix: '' };
  // A product with a power of 10 is rounded less often than a quotient.
  const number = divisor < 1 ? size * Math.round(1 / divisor) : size / divisor;
  return plain(number, hasPlural && Math.abs(number) > 1 ? `${suffix}s` : suffix);
}

const pad = (n: number, width = 2): string => String(n).padStart(width, '0');

/** `2026-11-21 10:00:00` in the time zone of the browser. */
export function formatTime(ms: number, withMillis = false): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return '';
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  const time = `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
  return `${day} ${time}${withMillis ? `.${pad(at.getMilliseconds(), 3)}` : ''}`;
}

const AGES: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** `5 minutes ago`. */
export function formatAge(ms: number, nowMs: number): string {
  const seconds = Math.round((nowMs - ms) / 1000);
  const [size, name] = AGES.find(([from]) => Math.abs(seconds) >= from) ?? [1, 'second'];
  const count = Math.round(Math.abs(seconds) / size);
  const text = `${count} ${name}${count === 1 ? '' : 's'}`;
  return seconds >= 0 ? `${text} ago` : `in ${text}`;
}

/**
 * A fraction that is missing, as text, rounded up as in the tables of the dashboards. A small one is not shown as nothing; the sum of
 * nothing may not be exactly 0.
 */
export function formatMissing(fraction: number): string {
  if (fraction < 1e-9) return 'nothing';
  return fraction < 0.0005 ? 'less than 0.1%' : `${(Math.ceil(fraction * 1000 - 1e-9) / 10).toFixed(1)}%`;
}
