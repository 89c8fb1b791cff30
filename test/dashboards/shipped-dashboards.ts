import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { dashboardFolder, PANEL_TYPES } from '../../viewer/index.js';

/** The data source of a panel, by the UID of the variable or of the provisioned one. */
const datasource = z.strictObject({ type: z.literal('grafana-clickhouse-datasource'), uid: z.string().min(1) });

/**
 * One query to ClickHouse, as stored by the plugin since version 4. `format` is the plugin's number of the query type: its
 * backend reads the number, its editor the name.
 */
const target = z
  .strictObject({
    refId: z.string().regex(/^[A-Z][A-Za-z]*$/),
    datasource,
    editorType: z.literal('sql'),
    queryType: z.enum(['timeSeries', 'table']),
    format: z.union([z.literal(0), z.literal(1)]),
    rawSql: z.string().min(1),
  })
  .refine(({ queryType, format }) => (queryType === 'timeSeries') === (format === 0), {
    message: 'queryType and format contradict each other',
  });

const gridPosition = z
  .strictObject({
    x: z.int().min(0).max(23),
    y: z.int().min(0),
    w: z.int().min(1).max(24),
    h: z.int().min(1),
  })
  .refine(({ x, w }) => x + w <= 24, { message: 'wider than the grid of 24 columns' });

const threshold = z.strictObject({ color: z.string(), value: z.number().nullable() });
const fieldProperty = z.strictObject({ id: z.string(), value: z.unknown() });

const fieldConfig = z.strictObject({
  defaults: z.strictObject({
    unit: z.string().optional(),
    decimals: z.int().min(0).optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    noValue: z.string().optional(),
    displayName: z.string().optional(),
    links: z.array(z.strictObject({ title: z.string(), url: z.string(), targetBlank: z.boolean() })).optional(),
    color: z.looseObject({ mode: z.string() }).optional(),
    thresholds: z
      .strictObject({ mode: z.enum(['absolute', 'percentage']), steps: z.array(threshold).min(1) })
      .optional(),
    mappings: z.array(z.looseObject({ type: z.enum(['value', 'range', 'special', 'regex']) })).optional(),
    custom: z.record(z.string(), z.unknown()).optional(),
  }),
  overrides: z.array(
    z.strictObject({
      matcher: z.strictObject({
        id: z.enum(['byName', 'byRegexp', 'byType', 'byFrameRefID']),
        options: z.string(),
      }),
      properties: z.array(fieldProperty),
    }),
  ),
});

const row = z.strictObject({
  id: z.int().min(1),
  type: z.literal('row'),
  title: z.string().min(1),
  collapsed: z.literal(false),
  gridPos: gridPosition,
  panels: z.array(z.never()),
});

const panel = z.strictObject({
  id: z.int().min(1),
  type: z.enum(PANEL_TYPES),
  title: z.string().min(1),
  /** What the panel shows, and what an unusual value means. */
  description: z.string().min(20),
  datasource,
  gridPos: gridPosition,
  targets: z.array(target).min(1),
  /** Minimum width of a bucket, such as `10s`. */
  interval: z.string().optional(),
  maxDataPoints: z.int().min(1).optional(),
  /** Range of the panel, where it is shorter than the dashboard's, such as `24h`. */
  timeFrom: z.string().optional(),
  fieldConfig,
  options: z.record(z.string(), z.unknown()),
  transformations: z.array(z.strictObject({ id: z.string(), options: z.record(z.string(), z.unknown()) })).optional(),
  links: z.array(z.looseObject({ title: z.string(), url: z.string() })).optional(),
  /** One panel per value of this variable. */
  repeat: z.string().optional(),
  repeatDirection: z.literal('h').optional(),
  maxPerRow: z.int().optional(),
});

const queryVariable = z.strictObject({
  type: z.literal('query'),
  name: z.string().regex(/^[a-z_]+$/),
  label: z.string(),
  description: z.string(),
  datasource,
  /** The plugin reads a variable's query from an object of this form. */
  query: target,
  refresh: z.union([z.literal(1), z.literal(2)]),
  sort: z.int(),
  multi: z.boolean(),
  includeAll: z.boolean(),
  current: z.strictObject({ text: z.string(), value: z.string() }).optional(),
});

const customVariable = z.strictObject({
  type: z.literal('custom'),
  name: z.string().regex(/^[a-z_]+$/),
  label: z.string(),
  description: z.string(),
  /** `text : value, text : value`. */
  query: z.string().min(1),
  multi: z.literal(false),
  includeAll: z.literal(false),
  current: z.strictObject({ text: z.string(), value: z.string() }),
});

const textVariable = z.strictObject({
  type: z.literal('textbox'),
  name: z.string().regex(/^[a-z_]+$/),
  label: z.string(),
  description: z.string(),
  query: z.string(),
  hide: z.int(),
  current: z.strictObject({ text: z.string(), value: z.string() }),
});

const datasourceVariable = z.strictObject({
  type: z.literal('datasource'),
  name: z.literal('datasource'),
  label: z.string(),
  query: z.literal('grafana-clickhouse-datasource'),
  hide: z.int(),
  current: z.strictObject({ text: z.string(), value: z.string() }),
});

const annotation = z.strictObject({
  name: z.string().min(1),
  enable: z.boolean(),
  hide: z.boolean().optional(),
  iconColor: z.string(),
  datasource,
  target,
});

/** The part of Grafana's dashboard format (classic, schema version 42 and newer: with an older one, Grafana hides fields of `hideFrom` in tooltips) that our dashboards are written in. */
const dashboard = z.strictObject({
  uid: z.string().regex(/^[a-z0-9-]{1,40}$/),
  title: z.string().min(1),
  description: z.string().min(20),
  tags: z.array(z.string()),
  schemaVersion: z.int().min(42),
  version: z.int(),
  editable: z.boolean(),
  graphTooltip: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  timezone: z.enum(['utc', 'browser', '']),
  refresh: z.string(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  timepicker: z.strictObject({ refresh_intervals: z.array(z.string()) }),
  templating: z.strictObject({
    list: z.array(z.discriminatedUnion('type', [queryVariable, customVariable, textVariable, datasourceVariable])),
  }),
  annotations: z.strictObject({ list: z.array(annotation) }),
  links: z.array(z.looseObject({ title: z.string(), type: z.string() })),
  panels: z.array(z.discriminatedUnion('type', [row, panel])).min(1),
});

export type Dashboard = z.infer<typeof dashboard>;
export type DashboardTarget = z.infer<typeof target>;
/** A panel with a query; rows, which are only headings, are excluded. */
export type Panel = z.infer<typeof panel>;

/**
 * Every dashboard of `dashboards/`, in the order of the file names.
 * @throws Error with the file and the path in it when one does not match the schema
 */
export function loadDashboards(): Dashboard[] {
  const folder = dashboardFolder();
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => {
    const parsed = dashboard.safeParse(JSON.parse(readFileSync(join(folder, name), 'utf8')));
    if (!parsed.success) throw new Error(`${name}: ${z.prettifyError(parsed.error)}`);
    return parsed.data;
  });
}

/** The panels with queries, from top to bottom. */
export function panelsOf({ panels }: Dashboard): Panel[] {
  return panels.filter((one): one is Panel => one.type !== 'row');
}
