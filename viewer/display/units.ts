/** A formatted value: the number, and the unit beside it. */
export interface Formatted {
  readonly text: string;
  readonly suffix: string;
}

/** Powers of 1,000 of a unit. */
const scaleOf = (unit: string) =>
  [
    [1e12, 1e12, ` T${unit}`],
    [1e9, 1e9, ` G${unit}`],
    [1e6, 1e6, ` M${unit}`],
    [1e3, 1e3, ` k${unit}`],
    [0, 1, ` ${unit}`],
  ] as const;
/** Counts per second: as `short`, with the unit after it. */
const RATES: Readonly<Record<string, string>> = {
  cps: 'c/s',
  ops: 'ops/s',
  reqps: 'req/s',
  rps: 'rd/s',
  wps: 'wr/s',
  iops: 'io/s',
};

const SCALES: Readonly<Record<string, readonly (readonly [from: number, divisor: number, unit: string])[]>> = {
  s: [
    [86_400, 86_400, ' days'],
    [3600, 3600, ' hours'],
    [60, 60, ' min'],
    [1, 1, ' s'],
    [1e-3, 1e-3, ' ms'],
    [0, 1e-6, ' µs'],
  ],
  bytes: [
    [1024 ** 4, 1024 ** 4, ' TiB'],
    [1024 ** 3, 1024 ** 3, ' GiB'],
    [1024 ** 2, 1024 ** 2, ' MiB'],
    [1024, 1024, ' KiB'],
    [0, 1, ' B'],
  ],
  decbytes: [
    [1e12, 1e12, ' TB'],
    [1e9, 1e9, ' GB'],
    [1e6, 1e6, ' MB'],
    [1e3, 1e3, ' kB'],
    [0, 1, ' B'],
  ],
  watt: scaleOf('W'),
  watth: scaleOf('Wh'),
  short: [
    [1e12, 1e12, ' T'],
    [1e9, 1e9, ' B'],
    [1e6, 1e6, ' M'],
    [1e4, 1e3, ' K'],
    [0, 1, ''],
  ],
};
const ALIASES: Readonly<Record<string, readonly [unit: string, factor: number]>> = {
  ms: ['s', 1e-3],
  µs: ['s', 1e-6],
  ns: ['s', 1e-9],
  m: ['s', 60],
  h: ['s', 3600],
  d: ['s', 86_400],
  kbytes: ['bytes', 1024],
  mbytes: ['bytes', 1024 ** 2],
  kwatt: ['watt', 1000],
  kwatth: ['watth', 1000],
};

/** Decimals with which a number has about three significant digits. */
function ownDecimals(value: number): number {
  if (Number.isInteger(value) || value === 0) return 0;
  return Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
}

const numbers = new Map<number, Intl.NumberFormat>();

/** With a comma between thousands, whatever the locale of the browser is. */
function fixed(value: number, decimals: number): string {
  const format =
    numbers.get(decimals) ??
    new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  numbers.set(decimals, format);
  const text = format.format(value);
  return /^-[0.,]*$/.test(text) ? text.slice(1) : text;
}

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
    case 'locale':
    case 'string':
      return plain(value, '');
    case 'percent':
      return plain(value, '%');
    case 'percentunit':
      return plain(value * 100, '%');
    case 'bool':
      return { text: value === 0 ? 'False' : 'True', suffix: '' };
    case 'dateTimeAsIso':
    case 'dateTimeAsLocal':
    case 'dateTimeFromNow':
      return { text: formatTime(value), suffix: '' };
    case 'currencyUSD':
      return { ...plain(value, ''), text: `$${plain(value, '').text}` };
  }
  const rate = RATES[unit];
  if (rate !== undefined) {
    const { text, suffix } = formatNumber(value, 'short', decimals);
    return { text, suffix: `${suffix} ${rate}` };
  }
  const [base, factor] = ALIASES[unit] ?? [unit, 1];
  const scale = SCALES[base];
  if (!scale) return plain(value, ` ${unit}`);
  // Sums of fractions of a second are not exact.
  const scaled = base === 's' && Math.abs(value * factor) < 5e-7 ? 0 : value * factor;
  const found = scale.find(([from]) => Math.abs(scaled) >= from) ?? scale.at(-1);
  const [, divisor, suffix] = scaled === 0 && base === 's' ? [0, 1, ' s'] : (found ?? [0, 1, '']);
  return plain(scaled / divisor, suffix);
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
