import { describe, expect, it } from 'vitest';
import { readDashboardFolder } from '../../viewer/dashboard-file.js';
import type { BoundQuery } from '../../viewer/panel-query.js';
import { sortedOptions, VariablePatterns } from '../../viewer/variable-options.js';
import { foreignValue, resolveVariables } from '../../viewer/variables.js';
import { dashboard, folderOf } from './dashboards.js';

const options = (...texts: readonly string[]) => texts.map((text) => ({ text, value: text }));
const textsOf = (list: readonly { text: string; value: string }[]) =>
  list.map(({ text, value }) => (text === value ? text : `${text}=${value}`));

function patternsAt(start = 0) {
  const clock = { ms: start };
  // Longer than a busy machine keeps a process waiting.
  const patterns = new VariablePatterns(() => clock.ms, 1000);
  const apply = (
    pattern: string,
    list: readonly { text: string; value: string }[],
    appliesTo: 'value' | 'text' = 'value',
  ) => textsOf(patterns.apply(pattern, list, appliesTo));
  return { clock, apply };
}

describe('the regex of a variable', () => {
  const { apply } = patternsAt();

  it('keeps the options that match; without slashes it is one of the whole value', () => {
    expect(apply('/^db/', options('db1', 'web', 'db2'))).toEqual(['db1', 'db2']);
    expect(apply('/DB/i', options('db1', 'web'))).toEqual(['db1']);
    expect(apply('db', options('db1', 'db'))).toEqual(['db']);
  });

  it('takes the first group, of each match with the flag g, once per value', () => {
    expect(apply('/^(\\w+)-/', options('eu-1', 'eu-2', 'us-1', 'x'))).toEqual(['eu', 'us']);
    expect(apply('/(\\d)/g', options('a1b2', 'c3'))).toEqual(['1', '2', '3']);
    expect(apply('/(\\d)?x/', options('1x', 'x'))).toEqual(['1', '']);
    expect(apply('/x*/g', options('ab', 'xx'))).toEqual(['ab', 'xx']);
  });

  it('takes the named groups text and value', () => {
    expect(apply('/(?<text>\\w+)\\|(?<value>\\d+)/', options('one|1', 'two|2', 'three'))).toEqual(['one=1', 'two=2']);
    expect(apply('/(?<value>\\d+)/', options('one|1'))).toEqual(['1']);
    expect(apply('/(?<value>\\d+)|(?<text>[a-z]+)/g', options('one1'))).toEqual(['one=1']);
  });

  it('applies to the texts where the file says so', () => {
    const list = [
      { text: 'one', value: '1' },
      { text: 'two', value: '2' },
    ];
    expect(apply('/^t/', list, 'text')).toEqual(['two=2']);
    expect(apply('/^t/', list)).toEqual([]);
  });

  it('that is no regular expression is named', () => {
    expect(() => apply('/(/', options('a'))).toThrow('the regex "/(/" is not a regular expression');
  });

  it('that takes too long is ended, named, and not tried again for a minute', () => {
    const { clock, apply: applyAt } = patternsAt();
    const evil = '/^(a+)+$/';
    const subject = options(`${'a'.repeat(60)}b`);
    expect(() => applyAt(evil, subject)).toThrow('the regex "/^(a+)+$/" takes longer than 1000 ms');
    clock.ms += 59_000;
    expect(() => applyAt(evil, options('a'))).toThrow('takes longer than');
    clock.ms += 2000;
    expect(applyAt(evil, options('a'))).toEqual(['a']);
  });
});

describe('the options of a variable', () => {
  const list = options('b10', 'B2', 'a1', 'none');

  it.each([
    [0, ['b10', 'B2', 'a1', 'none']],
    [1, ['B2', 'a1', 'b10', 'none']],
    [2, ['none', 'b10', 'a1', 'B2']],
    [3, ['none', 'a1', 'B2', 'b10']],
    [4, ['b10', 'B2', 'a1', 'none']],
    [5, ['a1', 'b10', 'B2', 'none']],
    [6, ['none', 'B2', 'b10', 'a1']],
    [7, ['a1', 'B2', 'b10', 'none']],
    [8, ['none', 'b10', 'B2', 'a1']],
    [9, ['b10', 'B2', 'a1', 'none']],
  ])('are in the order %i of Grafana', (order, expected) => {
    expect(textsOf(sortedOptions(list, order))).toEqual(expected);
  });
});

it('a text that is too long is named as such, and not as a wrong option', () => {
  const about = { label: '', description: '', multi: false, includeAll: false, hidden: false, options: [] };
  const resolved = [
    { ...about, name: 'words', type: 'textbox', value: ['x'.repeat(200)] },
    { ...about, name: 'market', type: 'query', value: ['m'] },
  ];
  expect(foreignValue(resolved, { words: ['x'.repeat(200)], market: ['m'] })).toBeUndefined();
  expect(foreignValue(resolved, { words: ['x'.repeat(201)] })).toBe(
    'the variable words takes at most 200 characters, and not the text $__all',
  );
  expect(foreignValue(resolved, { market: ['n'] })).toBe('a value of the variable market is not one of its options');
});

it('an interval that follows the time range is as long as Grafana makes it, and a variable may be called as any property', async () => {
  const list = [
    { type: 'interval', name: 'step', query: '1m,1h', auto: true, current: { value: '$__auto_interval_step' } },
    { type: 'custom', name: 'constructor', query: 'a,b' },
  ];
  const { dashboards } = readDashboardFolder(folderOf({ 'a.json': dashboard('a', [], { templating: { list } }) }));
  const ask = () => Promise.reject(new Error('no query'));
  const source = { ask, patterns: new VariablePatterns(() => 0) };
  const of = async (hours: number) => {
    const range = { from: new Date(0), to: new Date(hours * 3_600_000) };
    const found = dashboards.get('a');
    if (!found) throw new Error('no dashboard');
    return resolveVariables(found, {}, range, source);
  };
  const { resolved, choices } = await of(1);
  expect(resolved[0]?.options.map(({ text }) => text)).toEqual(['auto', '1m', '1h']);
  expect([...choices.values()].map(({ value }) => value)).toEqual(['2m', 'a']);
  expect((await of(0.01)).choices.get('step')?.value).toBe('10s');
});

describe('a query with a LIMIT', () => {
  const rawSql = 'SELECT event, title FROM events ORDER BY title LIMIT 2 -- the newest';
  const list = [{ type: 'query', name: 'event', query: { rawSql } }];
  const { dashboards } = readDashboardFolder(folderOf({ 'a.json': dashboard('a', [], { templating: { list } }) }));
  const all: Readonly<Record<string, string>> = { a: 'Ann', b: 'Bob', c: 'Cy' };
  const asked: BoundQuery[] = [];
  const ask = async (query: BoundQuery) => {
    asked.push(query);
    const wanted = Object.values(query.parameters);
    const listed = Object.entries(all).slice(0, 2);
    return wanted.length === 0 ? listed : Object.entries(all).filter(([event]) => wanted.includes(event));
  };
  const of = async (...event: string[]) => {
    const found = dashboards.get('a');
    if (!found) throw new Error('no dashboard');
    asked.length = 0;
    const source = { ask, patterns: new VariablePatterns(() => 0) };
    const { resolved } = await resolveVariables(found, { event }, { from: new Date(0), to: new Date(1) }, source);
    return { resolved, about: `${resolved[0]?.value}: ${textsOf(resolved[0]?.options ?? [])}` };
  };

  it('lists that many options, and takes any other value that the query has', async () => {
    expect((await of('b')).about).toBe('b: Ann=a,Bob=b');
    expect(asked).toHaveLength(1);
    expect((await of('c')).about).toBe('c: Ann=a,Bob=b,Cy=c');
    expect(asked[1]).toEqual({
      sql: 'SELECT one.1, one.2 FROM (SELECT tuple(*) AS one FROM (\nSELECT event, title FROM events ORDER BY title\n)) WHERE toString(one.1) IN ({looked_up_0:String})',
      parameters: { looked_up_0: 'c' },
    });
  });

  it('has none that it does not have', async () => {
    const { resolved, about } = await of('d');
    expect(about).toBe('a: Ann=a,Bob=b');
    expect(foreignValue(resolved, { event: ['d'] })).toBe('a value of the variable event is not one of its options');
  });
});
