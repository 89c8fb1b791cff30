import { calculationName, reduceValues } from '../../viewer/display/calculations.js';
import { asRecord, type Display, displaysOf, formatValue, valueColor } from '../../viewer/display/fields.js';
import { tilesOf } from '../../viewer/display/tiles.js';
import { type Transformation, transformed } from '../../viewer/display/transformations.js';
import type { Field, Frame, Value } from '../../viewer/frames.js';
import { type GrafanaField, loadGrafanaData, type ReplaceVariables } from './grafana-data.js';

const grafana = await loadGrafanaData();
const theme = grafana.createTheme({ colors: { mode: 'dark' } });
const registry = registryOf();

/** Colors of fields that have another one per series or value, which the themes of both programs choose. */
const OWN_COLORS = /^(palette|continuous|shades)/;

/** What of a panel its displays depend on. */
export interface ComparedPanel {
  readonly type: string;
  readonly fieldConfig: {
    readonly defaults: Readonly<Record<string, unknown>>;
    readonly overrides: readonly {
      readonly matcher: { readonly id: string; readonly options?: unknown };
      readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
    }[];
  };
  readonly options: Readonly<Record<string, unknown>>;
  readonly transformations?: readonly Transformation[] | undefined;
}

/**
 * Where the viewer shows another name, text or color than Grafana, or reduces to another value: one line each. What it shows
 * otherwise on purpose is made equal first, and only here:
 *
 * - a number has commas between its thousands, which makes long ones readable, and a minus instead of a hyphen;
 * - NULL is a dash, as an empty cell is a text of no characters; the text for no data is not that of an empty text;
 * - times are ISO in every locale, and ages are counted (`40 seconds ago`, not `a few seconds ago`);
 * - less than a nanosecond is 0 s: sums of fractions of a second are not exact;
 * - a sum of nothing is nothing, where Grafana has 0, and so is the least number above 0 where there is none;
 * - of several calculations of a stat, each value has the name of its own.
 */
export function differencesFromGrafana(panel: ComparedPanel, recorded: readonly Frame[]): string[] {
  const frames = transformed(recorded, panel.transformations ?? [], panel.type !== 'table');
  const data = grafana.applyFieldOverrides({
    data: frames.map(frameOf),
    fieldConfig: withoutNull(panel.fieldConfig),
    fieldConfigRegistry: registry,
    replaceVariables,
    theme,
    timeZone: 'browser',
  });
  const displays = displaysOf(frames, panel.fieldConfig);
  const theirs = data.flatMap(({ fields }) => fields);
  return [
    ...displays.flatMap((display, i) => differencesOfField(display, theirs[i] as GrafanaField)),
    ...('reduceOptions' in panel.options ? differencesOfTiles(panel, frames, data) : []),
  ];
}

/** Reducers and their names. */
export function differencesOfCalculation(id: string, values: readonly Value[]): string[] {
  const field = grafana.createDataFrame({ fields: [{ name: 'v', type: 'number', config: {}, values: [...values] }] });
  const theirs = grafana.reduceField({ field: field.fields[0], reducers: [id] })[id] ?? null;
  const ours = reduceValues(values, id);
  return [
    ...differ(`${id} of [${values}]`, ours, theirs === Number.MAX_VALUE || Number.isNaN(theirs) ? null : theirs),
    ...differ(id, calculationName(id), grafana.fieldReducers.getIfExists(id)?.name),
  ];
}

function differencesOfField(display: Display, field: GrafanaField): string[] {
  const { name } = display.field;
  const { config } = field;
  const keys = ['unit', 'decimals', 'min', 'max', 'noValue'] as const;
  const shownOf = field.display;
  return [
    ...keys.flatMap((key) => differ(`${key} of ${name}`, display[key], config[key])),
    ...differ(`links of ${name}`, display.links, config['links'] ?? []),
    ...differ(`mappings of ${name}`, display.mappings, config['mappings'] ?? []),
    ...[...new Set(display.field.values)].flatMap((value) => {
      const shown = shownOf?.(value);
      if (!shown) return [];
      const said = { ...formatValue(value, display) };
      const color = said.color ?? valueColor(value, display);
      const where = `${name} = ${value} (${display.unit})`;
      return [
        ...(isComparedText(value, display) ? differ(where, plain(said), textOf(shown)) : []),
        ...(isComparedColor(value, display) || said.color !== undefined
          ? differ(`color of ${where}`, hexOf(color), shown.color)
          : []),
      ];
    }),
  ];
}

function differencesOfTiles(
  panel: ComparedPanel,
  frames: readonly Frame[],
  data: ReturnType<typeof grafana.applyFieldOverrides>,
): string[] {
  const reduceOptions = { calcs: ['lastNotNull'], ...asRecord(panel.options['reduceOptions']) };
  if (reduceOptions.calcs.length === 0) reduceOptions.calcs = ['lastNotNull'];
  const { fieldConfig } = panel;
  const options = { data, fieldConfig, reduceOptions, replaceVariables, theme, timeZone: 'browser' };
  const theirs = grafana.getFieldDisplayValues(options);
  const ours = tilesOf({ panel, frames, config: fieldConfig });
  // Without fields Grafana makes a value of its text for none.
  if (ours.length === 0) return differ('tiles', theirs.length, 1);
  const severalNames = reduceOptions.calcs.length > 1;
  return [
    ...differ('tiles', ours.length, theirs.length),
    ...ours.flatMap(({ name, value, display }, i) => {
      const shown = theirs[i]?.display;
      const sumOfNothing = value === null;
      return [
        ...(severalNames ? [] : differ(`name of tile ${i}`, name, shown?.title)),
        ...(sumOfNothing || !shown || !isComparedText(value, display)
          ? []
          : differ(`tile ${i}`, plain(formatValue(value, display)), textOf(shown))),
      ];
    }),
  ];
}

const differ = (what: string, ours: unknown, theirs: unknown): string[] =>
  JSON.stringify(ours ?? null) === JSON.stringify(theirs ?? null)
    ? []
    : [`${what}: ${JSON.stringify(ours)}, in Grafana ${JSON.stringify(theirs)}`];

function isComparedText(value: Value, { unit, noValue, mappings }: Display): boolean {
  if (unit === 'dateTimeFromNow' || unit === 'dateTimeAsLocal') return false;
  if (unit === 's' && typeof value === 'number' && Math.abs(value) < 1e-9) return false;
  if (value === '') return noValue === undefined;
  return value !== null || noValue !== undefined || mappings.length > 0;
}

/** Where neither thresholds nor a color are in the file, Grafana has those of the type of the panel. */
function isComparedColor(value: Value, { colorMode, thresholds }: Display): boolean {
  return typeof value === 'number' && !OWN_COLORS.test(colorMode) && (colorMode === 'fixed' || thresholds.length > 0);
}

const plain = ({ text, suffix }: { text: string; suffix: string }): string =>
  `${text.replace(/(?<=\d),(?=\d{3})/g, '').replaceAll('−', '-')}${suffix}`.replace(/^–$/, '');
const textOf = ({ prefix = '', text, suffix = '' }: { prefix?: string; text: string; suffix?: string }): string =>
  `${prefix}${text}${suffix}`.replace(/(?<=\d),(?=\d{3})/g, '');
const hexOf = (name: string | undefined): string | undefined =>
  name && grafana.colorManipulator.asHexString(theme.visualization.getColorByName(name));

function frameOf({ refId, fields }: Frame): unknown {
  const own = fields.map(({ name, kind, labels, values }: Field) => ({
    name,
    type: kind === 'text' ? (values.some((value) => typeof value === 'boolean') ? 'boolean' : 'string') : kind,
    ...(labels ? { labels } : {}),
    config: {},
    values: [...values],
  }));
  return grafana.createDataFrame({ refId, fields: own });
}

/** A file's first threshold is NULL; Grafana loads it as -Infinity. */
function withoutNull(config: unknown): unknown {
  if (Array.isArray(config)) return config.map(withoutNull);
  if (typeof config !== 'object' || config === null) return config;
  const entries = Object.entries(config).map(([key, value]): [string, unknown] => {
    if (key !== 'steps' || !Array.isArray(value)) return [key, withoutNull(value)];
    return [key, value.map((step) => ({ ...step, value: step.value ?? Number.NEGATIVE_INFINITY }))];
  });
  return Object.fromEntries(entries);
}

function registryOf(): unknown {
  const { identityOverrideProcessor: same, numberOverrideProcessor: number } = grafana;
  const processors = {
    unit: same,
    decimals: number,
    min: number,
    max: number,
    noValue: same,
    displayName: grafana.displayNameOverrideProcessor,
    thresholds: grafana.thresholdsOverrideProcessor,
    mappings: same,
    links: same,
    color: same,
  };
  const items = Object.entries(processors).map(([id, process]) => {
    const settings = id === 'displayName' ? { expandTemplateVars: true } : {};
    return { id, path: id, name: id, process, settings, shouldApply: () => true };
  });
  return new grafana.FieldConfigOptionsRegistry(() => items);
}

/** The variables that Grafana's server of templates, which is not part of `@grafana/data`, replaces in names of fields. */
const replaceVariables: ReplaceVariables = (text, scope = {}) => {
  const context = asRecord(asRecord(scope['__dataContext'])['value']);
  const field = context['field'] as GrafanaField | undefined;
  const fields = (asRecord(context['frame'])['fields'] ?? []) as GrafanaField[];
  const row = context['rowIndex'] as number | undefined;
  return text
    .replace(/\$\{__field\.labels\.(\w+)\}/g, (_, name) => field?.labels?.[name] ?? '')
    .replace(/\$\{__field\.name\}/g, field?.name ?? '')
    .replace(/\$\{__data\.fields\.(\w+)\}/g, (variable, name) =>
      row === undefined ? variable : String(fields.find((one) => one.name === name)?.values[row] ?? ''),
    );
};
