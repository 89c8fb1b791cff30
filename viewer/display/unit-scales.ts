/** From this size on, a number is divided and written with a suffix; the largest step first. */
export interface Step {
  readonly from: number;
  readonly divisor: number;
  readonly suffix: string;
  /** Whether a number of more than 1 has the plural of the suffix. */
  readonly hasPlural?: true;
}

/** Powers of `base`, the first of which belongs to the suffix at index `-firstPower`. */
function powers(base: number, suffixes: readonly string[], firstPower = 0): readonly Step[] {
  const steps = suffixes.map((suffix, i): Step => {
    const divisor = base ** (i + firstPower);
    return { from: i === 0 ? 0 : divisor, divisor, suffix };
  });
  return steps.reverse();
}

const si = (unit: string) =>
  powers(
    1000,
    ['f', 'p', 'n', 'µ', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'].map((p) => ` ${p}${unit}`),
    -5,
  );
const binary = (unit: string) =>
  powers(
    1024,
    ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi'].map((prefix) => ` ${prefix}${unit}`),
  );
const counts = (unit: string) =>
  powers(
    1000,
    ['', 'K', 'M', 'B', 'T'].map((prefix) => `${prefix}${unit}`),
  );

const NAMES = ['min', 'hour', 'day', 'week', 'year'] as const;

/** Durations: the sizes in one unit from which minutes, hours, days, weeks and years are written. */
function durations(
  own: readonly Step[],
  sizes: Partial<Record<(typeof NAMES)[number], number | readonly [from: number, divisor: number]>>,
): readonly Step[] {
  const longer = NAMES.flatMap((name): Step[] => {
    const size = sizes[name];
    if (size === undefined) return [];
    const [from, divisor] = typeof size === 'number' ? [size, size] : size;
    return [{ from, divisor, suffix: ` ${name}`, hasPlural: true }];
  });
  return [...longer.reverse(), ...own];
}

const plain = (suffix: string): Step => ({ from: 0, divisor: 1, suffix });
const step = (divisor: number, suffix: string): Step => ({ from: divisor, divisor, suffix });

const SECONDS = durations(
  [step(1, ' s'), step(1e-3, ' ms'), step(1e-6, ' µs'), { from: 0, divisor: 1e-9, suffix: ' ns' }],
  { min: 60, hour: 3600, day: 86_400, week: 604_800, year: [31_536_000, 31_556_900] },
);

/** Grafana's units whose numbers are divided by the size of the number. */
const SCALES: Readonly<Record<string, readonly Step[]>> = {
  short: powers(1000, ['', ' K', ' Mil', ' Bil', ' Tri', ' Quadr', ' Quint', ' Sext', ' Sept']),
  s: SECONDS,
  ms: durations([step(1e3, ' s'), plain(' ms')], { min: 6e4, hour: 36e5, day: 864e5, year: 31_536e6 }),
  µs: [step(1e6, ' s'), step(1e3, ' ms'), plain(' µs')],
  ns: durations([step(1e9, ' s'), step(1e6, ' ms'), step(1e3, ' µs'), plain(' ns')], {
    min: 6e10,
    hour: 36e11,
    day: 864e11,
  }),
  m: durations([plain(' min')], { hour: 60, day: 1440, week: 10_080, year: [604_800, 525_948] }),
  h: durations([plain(' hour')], { day: 24, week: 168, year: 8760 }),
  d: durations([], { day: [0, 1], week: 7, year: 365 }),
  bytes: binary('B'),
  decbytes: si('B'),
  bits: binary('b'),
  decbits: si('b'),
  binBps: binary('B/s'),
  Bps: si('B/s'),
  binbps: binary('b/s'),
  bps: si('b/s'),
  hertz: si('Hz'),
  watt: si('W'),
  watth: si('Wh'),
  joule: si('J'),
  volt: si('V'),
  amp: si('A'),
  cps: counts(' c/s'),
  ops: counts(' ops/s'),
  reqps: counts(' req/s'),
  rps: counts(' rd/s'),
  wps: counts(' wr/s'),
  iops: counts(' io/s'),
  eps: counts(' evt/s'),
  mps: counts(' msg/s'),
  recps: counts(' rec/s'),
  rowsps: counts(' rows/s'),
  cpm: counts(' c/m'),
  opm: counts(' ops/m'),
  reqpm: counts(' req/m'),
  rpm: counts(' rd/m'),
  wpm: counts(' wr/m'),
  /** Numbers without a unit; amounts of money use it too. */
  count: counts(''),
};

/** Units that are a multiple of another one. */
const MULTIPLES: Readonly<Record<string, readonly [unit: string, factor: number]>> = {
  kbytes: ['bytes', 1024],
  mbytes: ['bytes', 1024 ** 2],
  gbytes: ['bytes', 1024 ** 3],
  deckbytes: ['decbytes', 1e3],
  decmbytes: ['decbytes', 1e6],
  decgbytes: ['decbytes', 1e9],
  KiBs: ['binBps', 1024],
  MiBs: ['binBps', 1024 ** 2],
  KBs: ['Bps', 1e3],
  MBs: ['Bps', 1e6],
  Kbits: ['bps', 1e3],
  Mbits: ['bps', 1e6],
  kwatt: ['watt', 1e3],
  mwatt: ['watt', 1e-3],
  kwatth: ['watth', 1e3],
};

/** The steps of a unit and the factor to apply before; undefined for a unit without steps. */
export function scaleOf(unit: string): { readonly steps: readonly Step[]; readonly factor: number } | undefined {
  const [base, factor] = Object.hasOwn(MULTIPLES, unit) ? (MULTIPLES[unit] ?? [unit, 1]) : [unit, 1];
  const steps = Object.hasOwn(SCALES, base) ? SCALES[base] : undefined;
  return steps && { steps, factor };
}

/** All units that `scaleOf` knows. */
export const SCALED_UNITS = [...Object.keys(SCALES), ...Object.keys(MULTIPLES)];
