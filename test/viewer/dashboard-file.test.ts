// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Grafana writes a variable.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDashboardFolder } from '../../viewer/dashboard-file.js';
import { displaysOf, formatValue } from '../../viewer/display/fields.js';
import { readViews, sqlFolder } from '../../warehouse/index.js';
import { readRules } from '../dashboards/provisioning.js';
import { loadDashboards, panelsOf } from '../dashboards/shipped-dashboards.js';
import { sourcesOf } from '../dashboards/sources.js';
import { dashboard, folderOf, panel } from './dashboards.js';

const read = (panels: readonly unknown[], more: Record<string, unknown> = {}) => {
  const { dashboards, problems } = readDashboardFolder(folderOf({ 'a.json': dashboard('a', panels, more) }));
  const found = dashboards.get('a');
  if (!found) throw new Error(problems[0]?.reason);
  return found;
};
const unsupported = (panels: readonly unknown[], more?: Record<string, unknown>) =>
  read(panels, more).panels.map((one) => one.unsupported);

describe('a dashboard that was exported for sharing', () => {
  const inputs = {
    __inputs: [
      { name: 'DS_CLICKHOUSE', type: 'datasource', pluginId: 'grafana-clickhouse-datasource' },
      { name: 'DS_PROMETHEUS', type: 'datasource', pluginId: 'prometheus' },
      { name: 'VAR_TABLE', type: 'constant', value: 'logs' },
      { name: 'VAR_LIMIT', type: 'constant', value: 10 },
      { name: 'VAR_NONE', type: 'constant' },
    ],
  };

  it('has its constants filled in, and leaves other references', () => {
    const sql = 'SELECT * FROM ${VAR_TABLE} WHERE a = ${host:singlequote} LIMIT ${VAR_LIMIT} -- ${VAR_NONE}';
    const list = [{ type: 'constant', name: 'table', query: '${VAR_TABLE}', current: { value: '${VAR_TABLE}' } }];
    const { panels, templating } = read([panel(1, 'table', sql)], { ...inputs, templating: { list } });
    expect(panels[0]?.targets[0]?.rawSql).toBe(
      'SELECT * FROM logs WHERE a = ${host:singlequote} LIMIT 10 -- ${VAR_NONE}',
    );
    expect(templating.list[0]?.query).toBe('logs');
  });

  it('asks ClickHouse for its data source, and names another', () => {
    const of = (datasource: unknown) =>
      panel(1, 'table', '', { datasource, targets: [{ refId: 'A', rawSql: 'SELECT 1' }] });
    expect(unsupported([of('${DS_CLICKHOUSE}')], inputs)).toEqual([undefined]);
    expect(unsupported([of('${DS_PROMETHEUS}')], inputs)).toEqual(['the data source prometheus']);
    expect(unsupported([of({ type: 'prometheus', uid: '${DS_PROMETHEUS}' })], inputs)).toEqual([
      'the data source prometheus',
    ]);
  });
});

it('a dashboard without a uid has the name of its file', () => {
  const { uid: _, ...content } = dashboard('a', [panel(1, 'table', 'SELECT 1')]);
  const { dashboards } = readDashboardFolder(folderOf({ 'My dashboard.v2.json': content }));
  expect([...dashboards.keys()]).toEqual(['My-dashboard-v2']);
});

it('a dashboard without a title has the name of its file', () => {
  const { dashboards } = readDashboardFolder(folderOf({ 'Mine.json': { ...dashboard('a', []), title: ' ' } }));
  expect(dashboards.get('a')?.title).toBe('Mine');
});

it('a file that is no dashboard is named with the reason', () => {
  const { problems } = readDashboardFolder(folderOf({ 'a.json': [1], 'b.json': { title: 1 } }));
  expect(problems.map(({ reason }) => reason)).toEqual([
    'it is not a dashboard: it is not a JSON object',
    expect.stringContaining('it is not a dashboard: title: Invalid input'),
  ]);
});

it('a dashboard in another form of Grafana is named with what to do; a byte order mark is no part of it', () => {
  const folder = folderOf({
    'api.json': { meta: {}, dashboard: dashboard('a', []) },
    'rows.json': { title: 'Old', schemaVersion: 14, panels: [], rows: [{ panels: [panel(1, 'table', 'SELECT 1')] }] },
    'spec.json': { kind: 'Dashboard', spec: dashboard('a', []) },
    'v2.json': { title: 'New', elements: {}, layout: {} },
  });
  writeFileSync(join(folder, 'mark.json'), `\uFEFF${JSON.stringify(dashboard('mark', []))}`);
  const { dashboards, problems } = readDashboardFolder(folder);
  expect([...dashboards.keys()]).toEqual(['mark']);
  expect(problems).toEqual([
    { file: 'api.json', reason: expect.stringContaining('only the value of its field "dashboard"') },
    { file: 'rows.json', reason: expect.stringContaining('its panels are in rows, as before Grafana 5') },
    { file: 'spec.json', reason: expect.stringContaining('only the value of its field "spec"') },
    { file: 'v2.json', reason: expect.stringContaining('the schema v2 of Grafana') },
  ]);
});

describe('a panel', () => {
  it('with a calculation that is not known is not drawn', () => {
    const reduced = (type: string, reduceOptions: unknown) =>
      panel(1, type, 'SELECT 1', { options: { reduceOptions } });
    for (const type of ['stat', 'gauge', 'bargauge']) {
      expect(unsupported([reduced(type, { calcs: ['mean', 'allValues'] })])).toEqual(['the calculation allValues']);
      expect(unsupported([reduced(type, { calcs: ['mean', 'p95'] })])).toEqual([undefined]);
      expect(unsupported([reduced(type, { calcs: ['allValues'], values: true })])).toEqual([undefined]);
    }
  });

  it('with queries of several data sources is drawn if all of them are ClickHouse', () => {
    const mixed = { type: 'datasource', uid: '-- Mixed --' };
    const one = (type: string) => ({ refId: 'A', rawSql: 'SELECT 1', datasource: { type, uid: 'x' } });
    expect(
      unsupported([panel(1, 'table', '', { datasource: mixed, targets: [one('grafana-clickhouse-datasource')] })]),
    ).toEqual([undefined]);
    expect(unsupported([panel(1, 'table', '', { datasource: mixed, targets: [one('loki')] })])).toEqual([
      'the data source loki',
    ]);
    const shared = { type: 'datasource', uid: '-- Dashboard --' };
    expect(unsupported([panel(1, 'table', '', { datasource: shared, targets: [] })])).toEqual([
      'the data source -- Dashboard --',
    ]);
  });

  it('is drawn without its hidden queries, and not with a shown one that has no SQL', () => {
    const query = (sql: string, more: Record<string, unknown> = {}) => ({ refId: sql, rawSql: sql, ...more });
    const targets = (...all: readonly unknown[]) => ({ targets: all });
    expect(
      unsupported([
        panel(1, 'table', '', targets(query('SELECT 1'), query('', { hide: true }))),
        panel(
          2,
          'table',
          '',
          targets(query('SELECT 1'), query('up', { hide: true, datasource: { type: 'prometheus' } })),
        ),
        panel(3, 'table', '', targets(query('SELECT 1'), query('-- later'))),
      ]),
    ).toEqual([undefined, undefined, 'queries without SQL']);
  });

  it('of text, and a row, need no data source', () => {
    const targets = [{ refId: 'A', datasource: { type: 'prometheus' } }];
    const of = (id: number, type: string) => panel(id, type, '', { datasource: { type: 'prometheus' }, targets });
    expect(unsupported([of(1, 'text'), of(2, 'row'), of(3, 'stat')])).toEqual([
      undefined,
      undefined,
      'the data source prometheus',
    ]);
  });

  it('without an ID, or with that of another panel, gets the next one', () => {
    const { id: _, ...unnumbered } = panel(0, 'table', 'SELECT 1');
    const row = { id: 4, type: 'row', panels: [panel(4, 'table', 'SELECT 1'), panel(2, 'table', 'SELECT 1')] };
    expect(read([panel(2, 'table', 'SELECT 1'), unnumbered, row]).panels.map(({ id }) => id)).toEqual([2, 5, 4, 6, 7]);
  });

  it('may have null where Grafana leaves a property out, and values that are no text', () => {
    const { panels, templating, tags } = read(
      [
        { ...panel(1, 'table', 'SELECT 1'), title: null, fieldConfig: null, options: null, maxDataPoints: '100' },
        { id: 2, libraryPanel: { uid: 'x', name: 'shared' } },
      ],
      {
        tags: null,
        links: null,
        templating: {
          list: [
            { type: 'custom', name: 'n', query: '1,2', current: { text: '2', value: 2 } },
            { type: 'query', name: 'none', query: 'SELECT 1', current: { text: null, value: null } },
          ],
        },
      },
    );
    expect(panels.map(({ title, maxDataPoints, unsupported }) => [title, maxDataPoints, unsupported])).toEqual([
      ['', 100, undefined],
      ['', undefined, 'library panels'],
    ]);
    expect(templating.list.map(({ current }) => current?.value)).toEqual(['2', undefined]);
    expect(tags).toEqual([]);
  });

  it('that an older Grafana has saved as a repetition is left out', () => {
    const panels = [
      panel(1, 'table', 'SELECT 1', { repeat: 'host' }),
      panel(2, 'table', 'SELECT 1', { repeatPanelId: 1 }),
    ];
    expect(read(panels).panels.map(({ id }) => id)).toEqual([1]);
  });
});

it('each panel that is shipped has a text for no data, and a unit where it draws numbers', () => {
  const panels = loadDashboards().flatMap((one) => panelsOf(one).map((panel) => ({ of: one.uid, panel })));
  expect(panels.length).toBeGreaterThan(60);
  const lacks = ({ panel: { type, fieldConfig } }: (typeof panels)[number]): string[] => {
    const { defaults, overrides } = fieldConfig;
    const hasUnit =
      defaults.unit !== undefined || overrides.some(({ properties }) => properties.some(({ id }) => id === 'unit'));
    return [...(defaults.noValue ? [] : ['noValue']), ...(hasUnit || type === 'table' ? [] : ['unit'])];
  };
  expect(panels.flatMap((one) => lacks(one).map((name) => `${one.of}, ${one.panel.title}: ${name}`))).toEqual([]);
});

it('fractions that are shown alike have one color: no threshold lies within what is rounded to one text', () => {
  const within: string[] = [];
  let compared = 0;
  for (const { uid, panel } of loadDashboards().flatMap((one) => panelsOf(one).map((panel) => ({ ...one, panel })))) {
    const { defaults, overrides } = panel.fieldConfig;
    for (const { properties } of [{ properties: [] }, ...overrides]) {
      const field: Record<string, unknown> = { ...defaults, ...Object.fromEntries(properties.map(Object.values)) };
      if (field['unit'] !== 'percentunit' || !field['thresholds']) continue;
      for (const { value } of (field['thresholds'] as NonNullable<typeof defaults.thresholds>).steps) {
        const shown = Number(value ?? 0) * 10 ** (2 + Number(field['decimals']));
        if (shown === 0) continue;
        compared++;
        if (Math.abs((shown % 1) - 0.5) > 1e-6) within.push(`${uid}, ${panel.title}: ${value}`);
      }
    }
  }
  expect(compared).toBeGreaterThan(20);
  expect(within).toEqual([]);
});

it('a table rounds what is missing up and what was observed down: a gap is never shown as 0', () => {
  const rounded: string[] = [];
  for (const panel of loadDashboards().flatMap(panelsOf)) {
    if (panel.type !== 'table') continue;
    const { defaults, overrides } = panel.fieldConfig;
    for (const { matcher, properties } of overrides) {
      const { unit, decimals }: Record<string, unknown> = {
        ...defaults,
        ...Object.fromEntries(properties.map(({ id, value }) => [id, value])),
      };
      if (unit !== 'percentunit' || !/^(observed|missing)$/.test(matcher.options)) continue;
      const rounding = matcher.options === 'missing' ? 'ceil' : 'floor';
      const column = new RegExp(
        `\\b${rounding}\\(round\\(.+, 12\\), ${2 + Number(decimals)}\\) AS ${matcher.options}\\b`,
      );
      expect(panel.targets[0]?.rawSql, `${panel.title}: ${matcher.options}`).toMatch(column);
      rounded.push(panel.title);
    }
  }
  expect(rounded.length).toBeGreaterThan(10);
});

it('whether an event is open and observed is shown as yes or no', () => {
  const panel = loadDashboards()
    .flatMap(panelsOf)
    .find(({ title }) => title === 'Coverage by event');
  const fields = ['open', 'live'].map((name) => ({ name, kind: 'text' as const, values: [true, false] }));
  const displays = displaysOf([{ refId: 'A', fields }], panel?.fieldConfig ?? { defaults: {}, overrides: [] });
  const texts = displays.map((display) => display.field.values.map((value) => formatValue(value, display).text));
  expect(texts).toEqual([
    ['yes', 'no'],
    ['yes', 'no'],
  ]);
});

it('an annotation of the order book does not have the color of what is missing in the chart', () => {
  const all = loadDashboards().flatMap(({ annotations }) => annotations.list);
  const colors = all.flatMap(({ name, iconColor }) => (name === 'Order book not observed' ? iconColor : []));
  expect(colors).toEqual(['purple', 'purple', 'purple']);
});

describe('what dashboards read', () => {
  it('is what follows FROM, JOIN and IN, and no name of WITH', () => {
    const sql = `WITH known AS (SELECT 1), '/* FROM a_text */' AS text -- FROM a_comment
      SELECT * FROM one(at = toString(now(), 'UTC')) AS first, system.two, known
      LEFT JOIN \`three\` ON x IN (SELECT y FROM four WHERE z IN five AND z NOT IN ('FROM six', $seven)) ARRAY JOIN (a, b) AS c`;
    expect(sourcesOf(sql).toSorted()).toEqual(['five', 'four', 'one', 'system.two', 'three']);
  });

  it('is views only: in panels, variables, annotations, links and alert rules', () => {
    const views = new Set(readViews(sqlFolder()).map(({ name }) => name));
    const texts = [...loadDashboards(), ...readRules()].flatMap((one) => statementsIn(one, one.uid));
    expect(texts.length).toBeGreaterThan(80);
    const others = texts.flatMap(([of, sql]) =>
      sourcesOf(sql)
        .filter((name) => !views.has(name))
        .map((name) => `${of}: ${name}`),
    );
    expect(others).toEqual([]);
  });
});

/** Every text in a value that is a SQL statement, with where it is. */
function statementsIn(value: unknown, of: string): [of: string, sql: string][] {
  if (typeof value === 'string') return /\bSELECT\b/.test(value) ? [[of, value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => statementsIn(part, `${of}.${name}`));
}
