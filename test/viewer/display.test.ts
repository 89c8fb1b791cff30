// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Grafana writes a variable.
import { describe, expect, it } from 'vitest';
import { csvLine } from '../../viewer/csv.js';
import { fillLink, fillLinkTitle, formatAddress, parseAddress } from '../../viewer/display/address.js';
import { calculationName, isCalculation, reduceValues } from '../../viewer/display/calculations.js';
import { colorOf, seriesColor } from '../../viewer/display/colors.js';
import { displaysOf, formatValue, thresholdColor } from '../../viewer/display/fields.js';
import { patternOf } from '../../viewer/display/pattern.js';
import { safeLink, shown } from '../../viewer/display/safe-text.js';
import { formatAge, formatMissing, formatNumber } from '../../viewer/display/units.js';
import { type Frame, frameOf } from '../../viewer/frames.js';

describe('a value', () => {
  it.each([
    [1234567.891, 'suffix:USDC', 2, '1,234,567.89 USDC'],
    [-0.0001, 'suffix:USDC', 2, '0.00 USDC'],
    [-1234.5, 'suffix:points', 1, '−1,234.5 points'],
    [-2e-9, 'none', 9, '−2e−9'],
    [-5, 'currencyUSD', 2, '−$5.00'],
    [-1.5, 'locale', undefined, '−1.5'],
    [-1.5, 'string', undefined, '−1.5'],
    [90, 's', undefined, '1.50 mins'],
    [1e-16, 's', 1, '0 s'],
    [1536, 'bytes', 1, '1.5 KiB'],
  ])('%d in %s with %s decimals is %s', (value, unit, decimals, text) => {
    const formatted = formatNumber(value, unit, decimals);
    expect(formatted.text + formatted.suffix).toBe(text);
  });

  it('has the age of its time', () => {
    expect([formatAge(0, 90_000), formatAge(0, 3_600_000), formatAge(5000, 0)]).toEqual([
      '2 minutes ago',
      '1 hour ago',
      'in 5 seconds',
    ]);
  });

  it('has milliseconds where its format has them', () => {
    const millis = 'time:YYYY-MM-DD HH:mm:ss.SSS';
    expect(
      [millis, 'time:YYYY', 'dateTimeAsIso'].map((unit) => formatNumber(1_763_719_200_007, unit, undefined).text),
    ).toEqual(['2025-11-21 10:00:00.007', '2025-11-21 10:00:00', '2025-11-21 10:00:00']);
  });

  it('of a part that is missing is nothing only if it is', () => {
    expect([0, 1e-17, 0.0004, 0.0006, 0.004, 0.0041, 0.25].map(formatMissing)).toEqual([
      'nothing',
      'nothing',
      'less than 0.1%',
      '0.1%',
      '0.4%',
      '0.5%',
      '25.0%',
    ]);
  });

  it('of nothing is calculated only by counting', () => {
    const calculations = ['sum', 'mean', 'max', 'logmin', 'delta', 'p95', 'count', 'distinctCount', 'allIsNull'];
    expect(calculations.map((one) => reduceValues([null, null], one))).toEqual([
      ...new Array(6).fill(null),
      0,
      0,
      true,
    ]);
  });

  it('is not reduced by a calculation that is not known', () => {
    expect(['allValues', 'p0', 'p100', 'toString', 'constructor', ''].filter(isCalculation)).toEqual([]);
    expect(reduceValues([1], 'constructor')).toBeNull();
    expect([calculationName('sum'), calculationName('p95')]).toEqual(['Total', '95th %']);
  });
});

describe('the fields of a panel', () => {
  const frame: Frame = {
    refId: 'A',
    fields: [
      { name: 'stream', kind: 'text', values: ['order-book', 'chance'] },
      { name: 'missing', kind: 'number', values: [0, 0.2] },
    ],
  };
  const config = {
    defaults: { unit: 'percentunit', decimals: 0, noValue: 'none' },
    overrides: [
      {
        matcher: { id: 'byName', options: 'missing' },
        properties: [
          { id: 'displayName', value: '${__data.fields.stream}: missing' },
          { id: 'custom.width', value: 90 },
          {
            id: 'thresholds',
            value: {
              mode: 'absolute',
              steps: [
                { color: 'green', value: null },
                { color: 'red', value: 0.1 },
              ],
            },
          },
          {
            id: 'mappings',
            value: [{ type: 'special', options: { match: 'null', result: { text: '?', color: 'gray' } } }],
          },
        ],
      },
      { matcher: { id: 'byRegexp', options: '/^not$/' }, properties: [{ id: 'unit', value: 's' }] },
    ],
  };

  it('are not matched by a pattern that could take exponential time', () => {
    const many = (pattern: string) => pattern.repeat(40);
    const slow = [
      '/^(a+)+$/',
      '(a|a)*',
      '/((ab)*c)+/',
      '(?:x{2,})+',
      '/(a|b){5,}/',
      '([)]+)*',
      '(?<n>.*)*',
      '/(?<=(a+)+b)/',
    ];
    for (const pattern of [...slow, many('a?'), many('(a|a)'), '(a{1,19}){1,19}b', 'a{0,9999999}b'])
      expect(() => patternOf(pattern), pattern).toThrow('does not support the slow pattern');
    for (const quick of [
      '/^(\\d{1,3}\\.){3}\\d+$/',
      '/(foo|bar) .*/i',
      '(a+)?b',
      '[(a+)+]+',
      '/\\(a+\\)+/',
      '(ab)+',
      '(?!x).*',
    ])
      expect(() => patternOf(quick).test('some text of 80 characters, '.repeat(3)), quick).not.toThrow();
    expect(patternOf('/DB/i').test('my db')).toBe(true);
    expect(patternOf('/(\\d+)-(\\d+)/').replace('from 3-4', '$2-$1')).toBe('from 4-3');
    for (const none of ['(', '(abc){99999999}']) expect(patternOf(none).test('('), none).toBe(false);
  });

  it('are matched by a pattern of polynomial time only as long as the page stays usable', () => {
    expect(patternOf('/.*error.*/').test(`${'x'.repeat(900)}error`)).toBe(true);
    const start = performance.now();
    const slow = patternOf('/.*.*.*x/');
    expect(() => slow.test('a'.repeat(5000))).toThrow('/.*.*.*x/ for a text of 5000 characters');
    const manyTexts = () => {
      for (let row = 0; row < 100_000; row += 1) slow.test('a'.repeat(30));
    };
    expect(manyTexts).toThrow('for this number of texts');
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it('are matched by type and by several names, as Grafana matches them', () => {
    const fields = [
      { name: 'open', kind: 'text', values: [null, true] },
      { name: 'title', kind: 'text', values: ['x'] },
      { name: 'n', kind: 'number', values: [1] },
    ] as const;
    const unitsOf = (id: string, options: unknown) =>
      displaysOf([{ refId: 'A', fields }], {
        defaults: {},
        overrides: [{ matcher: { id, options }, properties: [{ id: 'unit', value: 'x' }] }],
      }).map(({ unit }) => unit !== undefined);
    expect(unitsOf('byType', 'boolean')).toEqual([true, false, false]);
    expect(unitsOf('byType', 'string')).toEqual([false, true, false]);
    expect(unitsOf('byNames', { names: ['n', 'open'] })).toEqual([true, false, true]);
    expect(unitsOf('byNames', { mode: 'exclude', names: ['n'] })).toEqual([true, true, false]);
  });

  it('are named after their labels, and after their value where several are labelled', () => {
    const price = { name: 'price', kind: 'number', values: [1], labels: { outcome: 'Blue' } } as const;
    const volume = { ...price, name: 'volume' };
    const missing = { name: 'missing', kind: 'number', values: [1] } as const;
    const namesOf = (fields: Parameters<typeof displaysOf>[0][number]['fields']) =>
      displaysOf([{ refId: 'A', fields }], { defaults: {}, overrides: [] }).map(({ name }) => name);
    expect(namesOf([price, missing])).toEqual(['Blue', 'missing']);
    expect(namesOf([price, volume, missing])).toEqual(['price Blue', 'volume Blue', 'missing']);
  });

  it('have the overrides that match them, and names by row', () => {
    const [, missing] = displaysOf([frame], config);
    expect(missing).toMatchObject({ unit: 'percentunit', custom: { width: 90 }, name: 'order-book: missing' });
    expect(missing?.nameAt(1)).toBe('chance: missing');
    if (!missing) throw new Error('no field');
    expect(formatValue(0.25, missing)).toEqual({ text: '25', suffix: '%' });
    expect(formatValue(null, missing)).toEqual({ text: '?', suffix: '', color: 'gray' });
    expect([thresholdColor(0, missing), thresholdColor(0.1, missing)]).toEqual(['green', 'red']);
  });

  it('are, in a time series with texts, one per combination of the texts', () => {
    const { fields } = frameOf(
      'A',
      {
        meta: [
          { name: 'time', type: "DateTime64(3, 'UTC')" },
          { name: 'kind', type: 'LowCardinality(String)' },
          { name: 'n', type: 'UInt64' },
        ],
        data: [
          ['2026-11-21 10:00:00.250', 'a', 1],
          ['2026-11-21 10:00:00.250', 'b', 2],
          ['2026-11-21 10:00:01.000', 'b', null],
        ],
      },
      'UTC',
      true,
    );
    expect(fields.map(({ labels, values }) => [labels?.['kind'], values])).toEqual([
      [undefined, [1_795_255_200_250, 1_795_255_201_000]],
      ['a', [1, null]],
      ['b', [2, null]],
    ]);
  });

  it('have times of the time zone of their column or server', () => {
    const timeIn = (type: string, zone: string) =>
      frameOf('A', { meta: [{ name: 't', type }], data: [['2026-07-01 12:00:00']] }, zone, false).fields[0]?.values[0];
    expect(timeIn('DateTime', 'Europe/Berlin')).toBe(Date.parse('2026-07-01T10:00:00Z'));
    expect(timeIn("DateTime('UTC')", 'Europe/Berlin')).toBe(Date.parse('2026-07-01T12:00:00Z'));
    expect(timeIn("Nullable(DateTime('America/New_York'))", 'UTC')).toBe(Date.parse('2026-07-01T16:00:00Z'));
  });
});

describe('an address', () => {
  it('holds the state of the page', () => {
    const address = {
      uid: 'a-b',
      from: 'now-1h',
      to: 'now',
      refresh: '10s',
      variables: { v: ['x&y', 'z'], w: [''] },
      panel: '3/host=a%20b',
    };
    const [path = '', search = ''] = formatAddress(address).split('?');
    expect(parseAddress(path, `?${search}`)).toEqual(address);
    expect(parseAddress('/d/u', '?viewPanel=panel-3')?.panel).toBe('3');
    expect(parseAddress('/d/u', '?var-constructor=1')?.variables).toEqual({ constructor: ['1'] });
    expect(parseAddress('/', '')).toBeUndefined();
  });

  it('of a data link has encoded values', () => {
    const context = {
      row: { event: 'a&b=c#' },
      value: '1 & 2',
      variables: { datasource: ['x y'], other: [] },
      texts: { datasource: 'X & Y' },
      from: 'now-1h',
      to: 'now',
    };
    expect(
      fillLink(
        '/d/u?${__url_time_range}&${datasource:queryparam}&${other:queryparam}&var-e=${__data.fields.event}',
        context,
      ),
    ).toBe('/d/u?from=now-1h&to=now&var-datasource=x%20y&var-e=a%26b%3Dc%23');
    expect(
      fillLink(
        '/d/u?a=$datasource&b=${datasource:text}&c=[[datasource]]&d=${__value.raw}&e=$nothing&f=$constructor',
        context,
      ),
    ).toBe('/d/u?a=x%20y&b=X%20%26%20Y&c=x%20y&d=1%20%26%202&e=$nothing&f=$constructor');
    expect(fillLinkTitle('100% of ${__value.text} at ${__data.fields.event}', context)).toBe('100% of 1 & 2 at a&b=c#');
    const row = { 'a b': '1', 'c.numeric': '2', d: '3' };
    expect(
      fillLink(
        '/x?${__data.fields["a b"]}&${__data.fields[\'d\'].text}&${__data.fields[1]}&${__data.fields.c.numeric}&${__data.fields.d.numeric}&${__field.name}',
        { ...context, row, field: 'a&b' },
      ),
    ).toBe('/x?1&3&2&2&3&a%26b');
    expect(fillLink('/d/u?${__all_variables}&from=${__from}&to=$__to', context)).toBe(
      '/d/u?var-datasource=x%20y&from=now-1h&to=now',
    );
  });

  it('is a link only if it is relative, http or https, and names a foreign host', () => {
    const origin = 'http://127.0.0.1:8080';
    expect(safeLink('/d/x', origin)).toEqual({ href: `${origin}/d/x` });
    expect(safeLink('https://evil.example/x', origin)).toEqual({
      href: 'https://evil.example/x',
      foreign: 'evil.example',
    });
    for (const url of [
      'javascript:alert(1)',
      ' java\nscript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'http://',
    ])
      expect(safeLink(url, origin)).toBeUndefined();
    expect(safeLink('//evil.example', origin)?.foreign).toBe('evil.example');
  });
});

describe('a line of CSV', () => {
  it('has no formulas, and quotes where they are needed', () => {
    expect(csvLine(['=1+1', '@x', '+x', '-2.5', -3, 'a,b', null, true])).toBe(
      "'=1+1,'@x,'+x,-2.5,-3,\"a,b\",,true\r\n",
    );
    expect(csvLine(['say "x"', '', ['y']])).toBe('"say ""x""","","[""y""]"\r\n');
  });
});

/** How people without cones for long (protanopia) or medium waves (deuteranopia) see linear red, green and blue (Machado 2009). */
const SEEN = [
  [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
];

/** CIELAB of a color as it is seen. */
function labOf(color: string, seen: readonly number[]): number[] {
  const linear = [1, 3, 5].map((at) => (Number.parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2);
  const dot = (row: readonly number[]) => row.reduce((sum, part, i) => sum + part * (linear[i] ?? 0), 0);
  const rgb = [0, 3, 6].map((at) => Math.min(1, Math.max(0, dot(seen.slice(at, at + 3)))));
  const xyz = [
    [0.4339, 0.3762, 0.1899],
    [0.2126, 0.7152, 0.0722],
    [0.0177, 0.1095, 0.8728],
  ].map((row) => Math.cbrt(row.reduce((sum, part, i) => sum + part * (rgb[i] ?? 0), 0)));
  const [x = 0, y = 0, z = 0] = xyz;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** Of any two of the colors, as colour-blind people see them. */
function leastDistance(colors: readonly string[]): number {
  const distances = SEEN.flatMap((seen) => {
    const labs = colors.map((color) => labOf(color, seen));
    return labs.flatMap((a, i) =>
      labs.slice(i + 1).map((b) => Math.hypot(...a.map((part, axis) => part - (b[axis] ?? 0)))),
    );
  });
  return Math.min(...distances);
}

describe('texts and colors', () => {
  it.each(['dark', 'light'] as const)('of any two series can be told apart by colour-blind people (%s)', (theme) => {
    const colors = Array.from({ length: 8 }, (_, i) => seriesColor(i, theme));
    expect(leastDistance(colors)).toBeGreaterThan(10);
  });

  it.each(['dark', 'light'] as const)(
    'of any two thresholds can be told apart by colour-blind people (%s)',
    (theme) => {
      const colors = ['green', 'yellow', 'orange', 'red'].map((name) => colorOf(name, theme));
      expect(leastDistance(colors)).toBeGreaterThan(13);
    },
  );

  it('show control characters that change the direction of text', () => {
    expect(shown('a\u202eb')).toBe('a\\u202eb');
  });

  it('have Grafana’s names, in both themes', () => {
    expect(colorOf('semi-dark-red', 'dark')).toBe(colorOf('red', 'dark'));
    expect(colorOf('red', 'light')).not.toBe(colorOf('red', 'dark'));
    expect(colorOf('url(https://evil.example)', 'dark')).toBe(colorOf('text', 'dark'));
  });
});
