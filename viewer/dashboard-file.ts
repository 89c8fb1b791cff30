import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { describeError, packageRoot, UsageError } from '../core/index.js';
import { withInputs } from './dashboard-inputs.js';
import { isCalculation } from './display/calculations.js';
import { asRecord } from './display/fields.js';
import { unsupportedTransformation } from './display/transformations.js';
import { isPanelType } from './panel-types.js';
import { withoutComments } from './sql-text.js';

const MAX_FILE_BYTES = 2_000_000;
const MAX_PANELS = 200;
const CLICKHOUSE = 'grafana-clickhouse-datasource';

// What the viewer reads of Grafana's format; other fields are ignored. `test/dashboards/shipped-dashboards.ts` has the stricter
// rules that our own files keep.
const text = z.string();
const scalar = z.union([text, z.number(), z.boolean()]).transform(String);
/** Others write null where Grafana leaves a property out. */
const object = <T extends z.ZodRawShape>(shape: T) => z.preprocess(withoutNulls, z.object(shape));
const withoutNulls = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, own]) => own !== null))
    : value;
const loose = z.record(z.string(), z.unknown());
const datasource = z.union([text, object({ type: text.optional(), uid: text.optional() })]).nullish();
const target = object({
  refId: text.default('A'),
  datasource,
  rawSql: text.optional(),
  queryType: text.optional(),
  format: z.union([z.number(), text]).optional(),
  hide: z.boolean().optional(),
});
const options = z.array(object({ text: z.unknown().optional(), value: z.unknown().optional() }));
const variable = object({
  type: text,
  // The browser could not send a value of that name.
  name: z.string().regex(/^(?!__proto__$)\w+$/),
  label: text.nullish(),
  description: text.nullish(),
  hide: z.number().optional(),
  query: z.union([text, object({ rawSql: text.optional() })]).nullish(),
  multi: z.boolean().nullish(),
  includeAll: z.boolean().nullish(),
  allValue: text.nullish(),
  regex: text.nullish(),
  regexApplyTo: text.nullish(),
  sort: z.number().nullish(),
  current: object({ value: z.union([scalar, z.array(scalar)]).optional() }).nullish(),
  auto: z.boolean().nullish(),
  auto_count: z.number().positive().default(30).catch(30),
  auto_min: text
    .regex(/^\d+(ms|[smhdw])$/)
    .default('10s')
    .catch('10s'),
  options: options.nullish(),
});
const gridPosition = object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() });
const fieldConfig = object({
  defaults: loose.default({}),
  overrides: z
    .array(
      object({
        matcher: object({ id: text, options: z.unknown().optional() }),
        properties: z.array(z.object({ id: text, value: z.unknown().optional() })),
      }),
    )
    .default([]),
});
const transformation = object({
  id: text,
  options: z.unknown().optional(),
  disabled: z.boolean().nullish(),
  filter: z.unknown().optional(),
  topic: text.nullish(),
});
const linkShape = {
  title: text.default(''),
  url: text.nullish(),
  keepTime: z.boolean().nullish(),
  includeVars: z.boolean().nullish(),
};
const link = object(linkShape);
const panelShape = {
  id: z.int().optional(),
  type: text.default(''),
  title: text.default(''),
  description: text.nullish(),
  datasource,
  gridPos: gridPosition.default({ x: 0, y: 0, w: 24, h: 8 }),
  targets: z.array(target).default([]),
  interval: text.nullish(),
  timeFrom: text.nullish(),
  timeShift: text.nullish(),
  hideTimeOverride: z.boolean().nullish(),
  maxDataPoints: z.coerce.number().positive().optional().catch(undefined),
  fieldConfig: fieldConfig.default({ defaults: {}, overrides: [] }),
  options: loose.default({}),
  transformations: z.array(transformation).nullish(),
  collapsed: z.boolean().nullish(),
  links: z.array(link).nullish(),
  repeat: text.nullish(),
  repeatDirection: text.nullish(),
  maxPerRow: z.number().nullish(),
  /** Of a repetition that an older Grafana has saved: the panel that it repeats. */
  repeatPanelId: z.number().nullish(),
  libraryPanel: loose.nullish(),
};
const basePanel = object(panelShape);
const panel = object({ ...panelShape, panels: z.array(basePanel).nullish() });
const annotation = object({
  name: text,
  enable: z.boolean().default(true),
  iconColor: text.default('red'),
  datasource,
  target: target.optional(),
});
const file = object({
  uid: z
    .string()
    .regex(/^[\w-]{1,80}$/)
    .optional(),
  title: text,
  description: text.nullish(),
  tags: z.array(text).default([]),
  timezone: text.nullish(),
  refresh: z.union([text, z.boolean()]).nullish(),
  time: object({ from: text, to: text }).default({ from: 'now-6h', to: 'now' }),
  timepicker: object({ refresh_intervals: z.array(text).optional() }).nullish(),
  templating: object({ list: z.array(variable).default([]) }).default({ list: [] }),
  annotations: object({ list: z.array(annotation).default([]) }).default({ list: [] }),
  links: z.array(object({ ...linkShape, type: text.default('link'), tags: z.array(text).nullish() })).default([]),
  panels: z.array(panel).default([]),
});

export type ViewedVariable = z.infer<typeof variable>;
export type ViewedLink = z.infer<typeof link>;
export type ViewedTarget = z.infer<typeof target>;
export type ViewedAnnotation = z.infer<typeof annotation>;

export interface ViewedPanel extends Omit<z.infer<typeof basePanel>, 'id' | 'targets'> {
  readonly id: number;
  readonly targets: readonly ViewedTarget[];
  /** ID of the collapsed row that it is in. */
  readonly row?: number;
  /** What the viewer does not support of it; absent when it draws it. */
  readonly unsupported?: string;
}

/** A dashboard of any origin, as far as the viewer reads it. */
export interface ViewedDashboard extends Omit<z.infer<typeof file>, 'uid' | 'panels'> {
  readonly uid: string;
  readonly file: string;
  readonly panels: readonly ViewedPanel[];
}

/** The dashboards of a folder, and the files that could not be read. */
export interface DashboardFolder {
  readonly dashboards: ReadonlyMap<string, ViewedDashboard>;
  readonly problems: readonly { readonly file: string; readonly reason: string }[];
}

/** The folder of the shipped dashboards: the same files that Grafana gets. */
export const dashboardFolder = (): string => join(packageRoot(), 'dashboards');

/**
 * Reads every regular `*.json` file of a folder: no symbolic links, at most 2 MB and 200 panels each. A file that cannot be
 * read is a problem and stops nothing.
 * @throws UsageError when the folder cannot be read
 */
export function readDashboardFolder(folder: string): DashboardFolder {
  const dashboards = new Map<string, ViewedDashboard>();
  const problems: { file: string; reason: string }[] = [];
  for (const entry of entriesOf(folder).filter(({ name }) => name.endsWith('.json'))) {
    try {
      const read = readFile(folder, entry);
      const other = dashboards.get(read.uid);
      if (other) throw new UsageError(`it has the uid ${read.uid} of ${other.file}`);
      dashboards.set(read.uid, read);
    } catch (error) {
      problems.push({ file: entry.name, reason: describeError(error) });
    }
  }
  return { dashboards, problems };
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw new UsageError(`cannot read the folder of dashboards ${folder}: ${describeError(error)}`, { cause: error });
  }
}

function readFile(folder: string, entry: Dirent): ViewedDashboard {
  if (!entry.isFile()) throw new UsageError('it is not a regular file');
  const path = join(folder, entry.name);
  if (statSync(path).size > MAX_FILE_BYTES) throw new UsageError(`it is larger than ${MAX_FILE_BYTES} bytes`);
  const json: unknown = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  assertClassic(json);
  const parsed = file.safeParse(withInputs(json, CLICKHOUSE));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.path.join('.');
    throw new UsageError(`it is not a dashboard: ${path ? `${path}: ${issue?.message}` : 'it is not a JSON object'}`);
  }
  const panels = flatten(withIds(parsed.data.panels));
  if (panels.length > MAX_PANELS) throw new UsageError(`it has more than ${MAX_PANELS} panels`);
  const name = entry.name.slice(0, -'.json'.length);
  const uid = parsed.data.uid ?? name.replace(/[^\w-]/g, '-').slice(0, 80);
  return { ...parsed.data, uid, title: parsed.data.title.trim() || name, panels, file: entry.name };
}

/** @throws UsageError for a dashboard in another form of Grafana than the classic one */
function assertClassic(json: unknown): void {
  const { rows, panels, dashboard, elements, spec } = asRecord(json);
  if (Array.isArray(rows) && rows.length > 0 && (!Array.isArray(panels) || panels.length === 0)) {
    throw new UsageError(
      'its panels are in rows, as before Grafana 5: import it into a newer Grafana and export it there',
    );
  }
  if (dashboard !== undefined && panels === undefined) {
    throw new UsageError('it is a response of Grafana’s API: only the value of its field "dashboard" is the dashboard');
  }
  if (Array.isArray(asRecord(spec)['panels']))
    throw new UsageError('it is a resource of Grafana: only the value of its field "spec" is the dashboard');
  if (elements !== undefined || spec !== undefined)
    throw new UsageError('it is in the schema v2 of Grafana: export it there in the classic format');
}

type Numbered<T> = T & { readonly id: number };
type OuterPanel = Omit<z.infer<typeof panel>, 'panels'> & {
  readonly panels?: readonly Numbered<z.infer<typeof basePanel>>[];
};

/** The panels with IDs of their own: one without, or with that of another, gets the next one, as in Grafana. */
function withIds(panels: readonly z.infer<typeof panel>[]): Numbered<OuterPanel>[] {
  const all = panels.flatMap((one) => [one, ...(one.panels ?? [])]);
  let last = Math.max(0, ...all.map(({ id = 0 }) => id));
  const taken = new Set<number>();
  const idOf = ({ id }: { readonly id?: number | undefined }): number => {
    const own = id === undefined || taken.has(id) ? ++last : id;
    taken.add(own);
    return own;
  };
  return panels.map(({ panels: inside, ...one }) => ({
    ...one,
    id: idOf(one),
    panels: (inside ?? []).map((inner) => ({ ...inner, id: idOf(inner) })),
  }));
}

/** The panels of collapsed rows after their row. */
function flatten(panels: readonly Numbered<OuterPanel>[]): ViewedPanel[] {
  return panels
    .filter(isOwn)
    .flatMap(({ panels: inside, ...one }) => [
      checked(one),
      ...(inside ?? []).filter(isOwn).map((inner) => ({ ...checked(inner), row: one.id })),
    ]);
}

const isOwn = ({ repeat, repeatPanelId }: z.infer<typeof basePanel>): boolean => Boolean(repeat) || !repeatPanelId;

function checked(panel: Numbered<z.infer<typeof basePanel>>): ViewedPanel {
  const unsupported = unsupportedOf(panel);
  return unsupported === undefined ? panel : { ...panel, unsupported };
}

function unsupportedOf(panel: z.infer<typeof basePanel>): string | undefined {
  if (panel.libraryPanel) return 'library panels';
  if (panel.type === 'row' || panel.type === 'text') return undefined;
  if (!isPanelType(panel.type)) return `panels of the type ${panel.type}`;
  const transformation = unsupportedTransformation(panel.transformations ?? []);
  if (transformation !== undefined) return transformation;
  const calculation = unknownCalculation(panel);
  if (calculation !== undefined) return `the calculation ${calculation}`;
  const asked = panel.targets.filter(({ hide }) => hide !== true);
  const sources = [panel.datasource, ...asked.map((one) => one.datasource)].map(foreignSource);
  const foreign = sources.find((source) => source !== undefined);
  if (foreign !== undefined) return `the data source ${foreign}`;
  if (asked.some(({ rawSql }) => !hasSql(rawSql))) return 'queries without SQL';
  return undefined;
}

const hasSql = (sql: string | undefined): boolean => sql !== undefined && withoutComments(sql).trim() !== '';

/** The type of a data source that is not ClickHouse; `-- Mixed --` leaves it to the queries. */
function foreignSource(source: z.infer<typeof datasource>): string | undefined {
  if (typeof source === 'string') return source === '-- Dashboard --' ? source : undefined;
  if (!source?.type || source.type === CLICKHOUSE || source.uid === '-- Mixed --') return undefined;
  return source.uid === '-- Dashboard --' ? source.uid : source.type;
}

const REDUCED_TYPES = new Set(['stat', 'gauge', 'bargauge']);

function unknownCalculation({ type, options }: z.infer<typeof basePanel>): string | undefined {
  const { calcs, values } = asRecord(options['reduceOptions']);
  if (!REDUCED_TYPES.has(type) || values === true || !Array.isArray(calcs)) return undefined;
  return calcs.map(String).find((one) => !isCalculation(one));
}
