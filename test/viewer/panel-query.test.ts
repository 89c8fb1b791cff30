// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Grafana writes a variable.
import { describe, expect, it } from 'vitest';
import {
  ALL,
  bucketMs,
  customValues,
  expandQuery,
  intervalMs,
  type QueryContext,
  relativeRange,
  type VariableChoice,
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
    expect(expandQuery('event IN (${several:singlequote})', context(variables))).toBe("event IN ('a','b\\'c')");
    expect(expandQuery('$several ${several:csv}', context(variables))).toBe("'a','b'c' a,b'c");
    expect(expandQuery('$event and ${event:raw}', context(variables))).toBe("O'Hara and O'Hara");
    expect(() => expandQuery('${event:json}', context(variables))).toThrow(':json');
  });

  it('drops a condition on a variable of which all is chosen, and only that one', () => {
    const sql = '$__conditionalAll(a IN (${a:singlequote}), $a) AND $__conditionalAll(b = $b, ${b})';
    const options = ['x', 'y'];
    expect(expandQuery(sql, context({ a: chosen(ALL, options), b: chosen('1') }))).toBe('1=1 AND b = 1');
    expect(expandQuery(sql, context({ a: chosen(['x']), b: chosen('') }))).toBe("a IN ('x') AND 1=1");
    expect(expandQuery('a IN (${a:singlequote})', context({ a: chosen(ALL, options) }))).toBe("a IN ('x','y')");
  });

  it('with an unknown macro, a missing argument or an open bracket says which', () => {
    expect(() => expandQuery('$__timeGroup(at, 5m)', context())).toThrow('$__timeGroup is not known');
    expect(() => expandQuery('WHERE $__timeFilter', context())).toThrow('$__timeFilter takes 1 arguments, not 0');
    expect(() => expandQuery('$__timeFilter(at', context())).toThrow('not closed');
    expect(() => expandQuery('$__conditionalAll(a = 1)', context())).toThrow('a condition and a variable');
  });
});

describe('the range and the buckets of a panel', () => {
  it('follow from what the dashboard says', () => {
    const now = new Date('2026-11-21T12:00:00Z');
    expect(relativeRange('now-30m', 'now', now)).toEqual({ from: new Date('2026-11-21T11:30:00Z'), to: now });
    expect(relativeRange('now-2d', 'now-1d', now).from).toEqual(new Date('2026-11-19T12:00:00Z'));
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
    expect(customValues('10 seconds : 10, raw')).toEqual([
      { text: '10 seconds', value: '10' },
      { text: 'raw', value: 'raw' },
    ]);
  });
});
