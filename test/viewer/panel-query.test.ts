// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Grafana writes a variable.
import { describe, expect, it } from 'vitest';
import {
  ALL,
  bindQuery,
  bucketMs,
  customValues,
  expandQuery,
  intervalMs,
  type QueryContext,
  relativeRange,
  type VariableChoice,
  withLiterals,
} from '../../viewer/index.js';

const range = { from: new Date('2026-11-21T10:00:00.250Z'), to: new Date('2026-11-21T11:30:00.750Z') };
const from = 1_795_255_200;
const to = 1_795_260_600;

const context = (variables: Record<string, VariableChoice> = {}, width = 20_000): QueryContext => ({
  range,
  bucketMs: width,
  variables: new Map(Object.entries(variables)),
});
const chosen = (value: string | string[], options: string[] = []): VariableChoice => ({ value, options });

describe('a query of a dashboard', () => {
  it.each([
    ['$__fromTime', `toDateTime(${from})`],
    ['$__toTime', `toDateTime(${to})`],
    ['$__fromTime_ms', `fromUnixTimestamp64Milli(${from}250)`],
    ['$__toTime_ms', `fromUnixTimestamp64Milli(${to}750)`],
    ['$__timeFilter(at)', `at >= toDateTime(${from}) AND at <= toDateTime(${to})`],
    ['$__timeFilter_ms(at)', `at >= fromUnixTimestamp64Milli(${from}250) AND at <= fromUnixTimestamp64Milli(${to}750)`],
    ['$__dateFilter(day)', "day >= toDate('2026-11-21') AND day <= toDate('2026-11-21')"],
    ['$__timeInterval(at)', 'toStartOfInterval(toDateTime(at), INTERVAL 20 second)'],
    ['$__timeInterval_ms(at)', 'toStartOfInterval(toDateTime64(at, 3), INTERVAL 20000 millisecond)'],
    ['count() / $__interval_s', 'count() / 20'],
    ['$__interval $__interval_ms ${__interval}${__interval_ms}', '20s 20000 20s20000'],
    ['$__timeFrom(at) AND $__timeTo(at)', `at >= toDateTime(${from}) AND at <= toDateTime(${to})`],
    ["$__timeGroup(at, '1h30m')", 'toStartOfInterval(toDateTime(at), INTERVAL 5400 second)'],
    ...['dateTimeFilter', 'dt'].map((name) => [
      `$__${name}(day, at)`,
      "(day >= toDate('2026-11-21') AND day <= toDate('2026-11-21'))" +
        ` AND (at >= toDateTime(${from}) AND at <= toDateTime(${to}))`,
    ]),
    ['$__from $__range_s', `${from}250 5401`],
    ['${__from} ${__range_s}', `${from}250 5401`],
  ])('has %s written as the plugin writes it', (sql, expanded) => {
    expect(expandQuery(sql, context())).toBe(expanded);
  });

  it('takes a macro argument with brackets and commas of its own as one', () => {
    expect(expandQuery('$__timeInterval(greatest(a, b(c, 1)))', context())).toBe(
      'toStartOfInterval(toDateTime(greatest(a, b(c, 1))), INTERVAL 20 second)',
    );
  });

  it('never buckets below one second, except in milliseconds', () => {
    expect(expandQuery('$__interval_s', context({}, 200))).toBe('1');
    expect(expandQuery('$__timeInterval_ms(t)', context({}, 200))).toContain('INTERVAL 200 millisecond');
  });

  it('quotes and escapes what a variable holds where the format says so', () => {
    const variables = { event: chosen("O'Hara"), several: chosen(['a', "b'c"]) };
    expect(expandQuery('event = ${event:singlequote}', context(variables))).toBe("event = 'O\\'Hara'");
    expect(expandQuery('${v:singlequote}', context({ v: chosen("\\' OR 1 -- ") }))).toBe("'\\\\\\' OR 1 -- '");
    expect(expandQuery('event IN (${several:singlequote})', context(variables))).toBe("event IN ('a','b\\'c')");
    expect(expandQuery('$several ${several:csv}', context(variables))).toBe("'a','b'c' a,b'c");
    expect(expandQuery('$event and ${event:raw}', context(variables))).toBe("O'Hara and O'Hara");
    expect(() => expandQuery('${event:json}', context(variables))).toThrow(':json');
  });

  it('loses its comments before its macros are expanded, and no text in quotes', () => {
    const quoted = "'-- $x', '/* \\\\' */', `a--b`, $q$ -- $q$";
    expect(expandQuery(`SELECT ${quoted}`, context())).toBe(`SELECT ${quoted}`);
    expect(expandQuery('a -- $__nothing\n/* $__timeFilter( */ b', context())).toBe(
      'a              \n                     b',
    );
    expect(expandQuery('-- why\nSELECT a,\n  -- one\n  /* two\n  lines */\n  b -- three\n', context())).toBe(
      'SELECT a,\n  b         \n',
    );
    const many = '/**/ a --\n--\n'.repeat(150_000);
    const startedAt = performance.now();
    expect(expandQuery(many, context())).toHaveLength(10 * 150_000);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it.each([
    [
      'WITH 1 AS one $__columns(at, kind AS k, count() AS n) FROM ticks WHERE one = 1 LIMIT 5;',
      'WITH 1 AS one SELECT TIME AS t, toString(kind) AS k, count() AS n FROM ticks WHERE RANGE AND (one = 1) GROUP BY t, k ORDER BY t, k LIMIT 5',
    ],
    [
      '$__rateColumns(at, kind, count()) FROM ticks',
      'SELECT TIME AS t, toString(kind) AS metric, if((STEP) = 0, nan, count() / (STEP)) AS value FROM ticks WHERE RANGE GROUP BY t, metric WINDOW ORDER BY t, metric',
    ],
    [
      '$__perSecondColumns(at, kind, n) FROM ticks',
      'SELECT TIME AS t, toString(kind) AS metric, if((STEP) = 0 OR (DELTA) < 0, nan, (DELTA) / (STEP)) AS value FROM ticks WHERE RANGE GROUP BY t, metric WINDOW ORDER BY t, metric',
    ],
    [
      '$__increaseColumns(at, kind, n) FROM ticks ORDER BY t',
      'SELECT TIME AS t, toString(kind) AS metric, if((STEP) = 0 OR (DELTA) < 0, nan, toFloat64(DELTA)) AS value FROM ticks WHERE RANGE GROUP BY t, metric WINDOW ORDER BY t',
    ],
    [
      '$__lttb(auto, at, price) FROM ticks',
      'SELECT point.1 AS at, point.2 AS price FROM (SELECT arrayJoin(lttb(270)(at, price)) AS point FROM ticks WHERE RANGE) ORDER BY at',
    ],
    [
      '$__lttb(9, at, max(price) AS p) FROM ticks GROUP BY at',
      'SELECT point.1 AS at, point.2 AS p FROM (SELECT arrayJoin(lttb(9)(at, p)) AS point FROM (SELECT at, max(price) AS p FROM ticks WHERE RANGE GROUP BY at ORDER BY at)) ORDER BY at',
    ],
  ])('that is rewritten by a macro of a whole statement: %s', (sql, expanded) => {
    const window = 'WINDOW w AS (PARTITION BY metric ORDER BY t ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)';
    const filled = expanded
      .replace('TIME', 'toStartOfInterval(toDateTime(at), INTERVAL 20 second)')
      .replace('RANGE', `at >= toDateTime(${from}) AND at <= toDateTime(${to})`)
      .replaceAll('STEP', 't - lagInFrame(t, 1, t) OVER w')
      .replaceAll('DELTA', 'max(n) - lagInFrame(max(n), 1, max(n)) OVER w')
      .replace('WINDOW', window);
    expect(expandQuery(sql, context())).toBe(filled);
  });

  it.each([
    ['SELECT * FROM ($__columns(a, b, c) FROM t)', 'outside of brackets'],
    ['$__columns(a, b, c) FROM t $__columns(a, b, c) FROM t', 'not 2'],
    ['$__columns(a, b) FROM t', 'takes 3 arguments, not 2'],
    ['$__columns(a, b, c) WHERE x', 'followed by a FROM clause'],
    ['$__columns(a, b, c) FROM t GROUP BY x', 'remove the GROUP BY'],
    ['$__columns(a, b, c) FROM t LIMIT 1 WHERE x', 'in the order'],
    ['$__lttb(0, a, b) FROM t', 'positive integer or auto'],
  ])('that such a macro cannot rewrite is rejected: %s', (sql, message) => {
    expect(() => expandQuery(sql, context())).toThrow(message);
  });

  it('drops a condition on a variable of which all is chosen, and only that one', () => {
    const sql = '$__conditionalAll(a IN (${a:singlequote}), $a) AND $__conditionalAll(b = $b, ${b})';
    const options = ['x', 'y'];
    expect(expandQuery(sql, context({ a: chosen(ALL, options), b: chosen('1') }))).toBe('1=1 AND b = 1');
    expect(expandQuery(sql, context({ a: chosen(['x']), b: chosen('') }))).toBe("a IN ('x') AND 1=1");
    expect(expandQuery('a IN (${a:singlequote})', context({ a: chosen(ALL, options) }))).toBe("a IN ('x','y')");
  });

  it('with an unknown macro, a missing argument or an open bracket is rejected with a message that names it', () => {
    expect(() => expandQuery('$__constructor', context())).toThrow('unknown macro $__constructor');
    expect(expandQuery('$constructor', context())).toBe('$constructor');
    expect(() => expandQuery("a = '${__user.login}'", context())).toThrow('the variable ${__user.login}');
    expect(() => expandQuery('$__adHocFilters(at)', context())).toThrow('unknown macro $__adHocFilters');
    expect(() => expandQuery('$__timeGroup(at, auto)', context())).toThrow('not like 5m');
    expect(() => expandQuery('WHERE $__timeFilter', context())).toThrow('$__timeFilter takes 1 arguments, not 0');
    expect(() => expandQuery('$__timeFilter(at', context())).toThrow('not closed');
    expect(() => expandQuery('$__conditionalAll(a = 1)', context())).toThrow('a condition and a variable');
  });
});

describe('a query with bound variables', () => {
  const hostile = "\\' OR 1=1 -- ";
  const bind = (sql: string, variables: Record<string, VariableChoice>) => bindQuery(sql, context(variables));

  it.each([
    ['a = ${v:singlequote}', 'a = {variable_0:String}'],
    ["a = '$v'", 'a = {variable_0:String}'],
    ["a = '${v:raw}'", 'a = {variable_0:String}'],
    ["a = '[[v]]'", 'a = {variable_0:String}'],
  ])('sends a value that is a whole literal as a parameter: %s', (sql, written) => {
    expect(bind(sql, { v: chosen(hostile) })).toEqual({ sql: written, parameters: { variable_0: hostile } });
  });

  it('sends several values as several parameters', () => {
    const several = { v: chosen(['a', hostile]), all: chosen(ALL, ['x', 'y']) };
    expect(bind('a IN (${v:singlequote}) OR b IN ($all)', several)).toEqual({
      sql: 'a IN ({variable_0:String},{variable_1:String}) OR b IN ({variable_2:String},{variable_3:String})',
      parameters: { variable_0: 'a', variable_1: hostile, variable_2: 'x', variable_3: 'y' },
    });
  });

  it('has the text of the file where all is chosen', () => {
    const all = (value: string) => context({ v: { value, options: ['a'], allValue: '.*' } });
    expect(bindQuery("match(x, '$v') AND $__conditionalAll(y = '$v', $v)", all(ALL))).toEqual({
      sql: "match(x, '.*') AND 1=1",
      parameters: {},
    });
    expect(bindQuery("match(x, '$v')", all('a')).parameters).toEqual({ variable_0: 'a' });
  });

  it('inserts plain numbers, and values of the file', () => {
    const file = { value: 'INTERVAL 1 DAY', options: [], fromFile: true };
    expect(bind('f($n) $file -- $hostile', { n: chosen('-1.5'), file, hostile: chosen(hostile) }).sql.trim()).toBe(
      'f(-1.5) INTERVAL 1 DAY',
    );
  });

  it.each(['$v', '${v:raw}', "'%$v%'", '"$v"', '`${v}`', "'${v:singlequote}'"])(
    'names the variable whose value it would have to insert: %s',
    (sql) => {
      expect(() => bind(sql, { v: chosen(hostile) })).toThrow('the variable v is not a whole literal in the SQL');
    },
  );

  it('is not made of a variable without a value', () => {
    const none = { v: { ...chosen(''), problem: 'its query failed' } };
    for (const sql of ["a = '$v'", 'a = ${v:singlequote}', '$__conditionalAll(a = 1, $v)'])
      expect(() => bind(sql, none)).toThrow('the variable v has no value: its query failed');
  });

  it('is shown with literals in place of its parameters', () => {
    expect(withLiterals(bind('a = ${v:singlequote}', { v: chosen(hostile) }))).toBe("a = '\\\\\\' OR 1=1 -- '");
  });
});

describe('the range and the buckets of a panel', () => {
  it('are computed as in Grafana', () => {
    const now = new Date('2026-11-21T12:00:00Z');
    expect(relativeRange('now-30m', 'now', now)).toEqual({ from: new Date('2026-11-21T11:30:00Z'), to: now });
    expect(relativeRange('now-2d', 'now-1d', now).from).toEqual(new Date('2026-11-19T12:00:00Z'));
    const range = (from: string, to: string) => {
      const found = relativeRange(from, to, now);
      return [found.from.toISOString().slice(0, 16), found.to.toISOString()];
    };
    expect(range('now-1y', 'now+1M')).toEqual(['2025-11-21T12:00', '2026-12-21T12:00:00.000Z']);
    expect(range('now/w', 'now/w')).toEqual(['2026-11-16T00:00', '2026-11-22T23:59:59.999Z']);
    expect(range('now-1M/M', 'now-1M/M')).toEqual(['2026-10-01T00:00', '2026-10-31T23:59:59.999Z']);
    expect(range('now-Q/Q', 'now/y')).toEqual(['2026-07-01T00:00', '2026-12-31T23:59:59.999Z']);
    expect(range('now/d-30m', 'now/d+6h')).toEqual(['2026-11-20T23:30', '2026-11-22T05:59:59.999Z']);
    expect(relativeRange('now-1M', 'now', new Date('2026-03-31T00:00:00Z')).from).toEqual(new Date('2026-02-28'));
    expect(range('-1000', '0')).toEqual(['1969-12-31T23:59', '1970-01-01T00:00:00.000Z']);
    for (const text of ['now-1x', 'now1d', 'now-', 'now/', 'now/d/']) {
      expect(() => relativeRange(text, 'now', now), text).toThrow('is not like now-6h');
    }
    expect(() => relativeRange('now-999999999y', 'now', now)).toThrow('is beyond what a date can be');
    expect(() => relativeRange('yesterday', 'now', now)).toThrow('"yesterday" is not like now-6h');
    expect([intervalMs('5s'), intervalMs('500ms'), intervalMs('2h')]).toEqual([5000, 500, 7_200_000]);
    expect(() => intervalMs('5')).toThrow('"5" is not like 10s');
  });

  it.each([
    [30, 200, 5000, 10_000],
    [30, 400, 1000, 5000],
    [60, 200, 5000, 20_000],
    [7 * 24 * 60, 200, 5000, 3_600_000],
    [5, 1000, 30_000, 30_000],
  ])('%i minutes in %i points, at least %i ms wide: %i ms', (minutes, points, least, expected) => {
    const end = new Date();
    expect(bucketMs({ from: new Date(end.getTime() - minutes * 60_000), to: end }, points, least)).toBe(expected);
  });

  it('a custom variable lists texts and values', () => {
    expect(customValues('10 seconds : 10, raw,a\\, b : c\\,d')).toEqual([
      { text: '10 seconds', value: '10' },
      { text: 'raw', value: 'raw' },
      { text: 'a, b', value: 'c,d' },
    ]);
  });
});
