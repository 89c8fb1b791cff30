import type { Field, Frame, Value } from '../frames.js';
import { patternOf } from './pattern.js';
import { type Formatted, formatAge, formatNumber, formatTime } from './units.js';

/** The field configuration of a panel, as in its file. */
export interface FieldConfig {
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly overrides: readonly {
    readonly matcher: { readonly id: string; readonly options?: unknown };
    readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
  }[];
}

export interface Threshold {
  readonly color: string;
  readonly value: number | null;
}

interface Mapping {
  readonly type: string;
  readonly options: unknown;
}

export interface Link {
  readonly title: string;
  readonly url: string;
}

/** What the configuration says of one field. */
export interface Display {
  readonly field: Field;
  readonly refId: string;
  /** With `${__data.fields.…}` of the first row. */
  readonly name: string;
  readonly unit: string | undefined;
  readonly decimals: number | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly noValue: string | undefined;
  readonly colorMode: string;
  readonly fixedColor: string | undefined;
  readonly thresholds: readonly Threshold[];
  readonly thresholdsMode: string;
  readonly mappings: readonly Mapping[];
  readonly links: readonly Link[];
  readonly custom: Readonly<Record<string, unknown>>;
  /** Whether the configuration names it. */
  readonly isNamed: boolean;
  readonly nameAt: (row: number) => string;
}

type Properties = Record<string, unknown>;

/** The fields of frames with their configuration: the defaults, then each matching override in the order of the file. */
export function displaysOf(frames: readonly Frame[], config: FieldConfig): Display[] {
  return frames.flatMap((frame) => frame.fields.map((field) => displayOf(field, frame, config)));
}

function displayOf(field: Field, frame: Frame, { defaults, overrides }: FieldConfig): Display {
  const properties: Properties = { ...defaults, custom: { ...asRecord(defaults['custom']) } };
  for (const { matcher, properties: own } of overrides) {
    if (!matches(matcher, field, frame, properties)) continue;
    for (const { id, value } of own) setProperty(properties, id, value);
  }
  const color = asRecord(properties['color']);
  const thresholds = asRecord(properties['thresholds']);
  const template = typeof properties['displayName'] === 'string' ? properties['displayName'] : undefined;
  const nameAt = (row: number) => (template ? fillTemplate(template, { field, frame, row }) : fieldName(field, frame));
  return {
    field,
    refId: frame.refId,
    name: nameAt(0),
    isNamed: Boolean(template),
    nameAt,
    unit: asText(properties['unit']),
    decimals: asNumber(properties['decimals']),
    min: asNumber(properties['min']),
    max: asNumber(properties['max']),
    noValue: asText(properties['noValue']),
    colorMode: asText(color['mode']) ?? '',
    fixedColor: asText(color['fixedColor']),
    thresholds: Array.isArray(thresholds['steps']) ? (thresholds['steps'] as Threshold[]) : [],
    thresholdsMode: asText(thresholds['mode']) ?? 'absolute',
    mappings: Array.isArray(properties['mappings']) ? (properties['mappings'] as Mapping[]) : [],
    links: Array.isArray(properties['links']) ? (properties['links'] as Link[]) : [],
    custom: properties['custom'] as Properties,
  };
}

export const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

function setProperty(properties: Properties, id: string, value: unknown): void {
  if (id.startsWith('custom.')) (properties['custom'] as Properties)[id.slice('custom.'.length)] = value;
  else properties[id] = value;
}

function matches(
  { id, options }: { id: string; options?: unknown },
  field: Field,
  frame: Frame,
  { displayName }: Properties,
): boolean {
  const names = [
    field.name,
    field.originalName ?? field.name,
    typeof displayName === 'string' ? displayName : fieldName(field, frame),
  ];
  switch (id) {
    case 'byName':
      return names.includes(String(options));
    case 'byRegexp':
      return names.some((name) => patternOf(String(options)).test(name));
    case 'byType':
      return typeOf(field) === options;
    case 'byNames': {
      const { names: listed, mode } = asRecord(options);
      return Array.isArray(listed) && names.some((name) => listed.includes(name)) === (mode !== 'exclude');
    }
    case 'byFrameRefID':
      return frame.refId === options;
    default:
      return false;
  }
}

/** Grafana's name of a field's type. */
function typeOf({ kind, values }: Field): string {
  if (kind !== 'text') return kind;
  return values.some((value) => typeof value === 'boolean') ? 'boolean' : 'string';
}

/** Of a series with labels their values, else its name. */
export function fieldName({ name, labels }: Field, frame: Frame): string {
  if (!labels) return name;
  const text = Object.values(labels).join(' ');
  const values = frame.fields.filter((field) => field.kind === 'number' && field.labels);
  const several = new Set(values.map((field) => field.name)).size > 1;
  return several ? `${name} ${text}` : text;
}

function fillTemplate(template: string, { field, frame, row }: { field: Field; frame: Frame; row: number }): string {
  return template.replace(/\$\{__(field\.labels|data\.fields|field\.name|series\.name)\.?([^}]*)\}/g, (_, of, name) => {
    if (of === 'field.labels') return field.labels?.[name] ?? '';
    if (of === 'data.fields')
      return String(frame.fields.find((one) => one.name === name || one.originalName === name)?.values[row] ?? '');
    return field.name;
  });
}

/** A value with its unit, or what its configuration shows instead. An age is counted to now, as in Grafana. */
export function formatValue(value: Value, display: Display): Formatted & { color?: string } {
  const { text, color } = mappingOf(value, display.mappings) ?? {};
  const formatted = text === undefined ? formatUnmapped(value, display) : { text, suffix: '' };
  return color === undefined ? formatted : { ...formatted, color };
}

function formatUnmapped(value: Value, { field, unit, decimals, noValue }: Display): Formatted {
  if (value === null) return { text: noValue ?? '–', suffix: '' };
  if (typeof value !== 'number') return { text: String(value), suffix: '' };
  if (unit === 'dateTimeFromNow') return { text: formatAge(value, Date.now()), suffix: '' };
  if (field.kind === 'time') return { text: formatTime(value, hasMillis(unit, field)), suffix: '' };
  return formatNumber(value, unit, decimals);
}

/** As in Grafana: a format of times says it; with any other unit, the times of a short field have milliseconds. */
const hasMillis = (unit = '', field: Field): boolean =>
  DATE_UNIT.test(unit) ? /^time:.*SSS/.test(unit) : isShort(field);

const DATE_UNIT = /^(dateTime(AsIso|AsUS|AsLocal|FromNow)|time:)/;

/** Whether the times of a field are within a minute, so that their milliseconds tell them apart. */
function isShort({ values }: Field): boolean {
  return values.length > 1 && Math.abs(Number(values.at(-1)) - Number(values[0])) < 60_000;
}

function mappingOf(value: Value, mappings: readonly Mapping[]): { text?: string; color?: string } | undefined {
  for (const { type, options } of mappings) {
    const record = asRecord(options);
    if (type === 'value' && value !== null && Object.hasOwn(record, String(value)))
      return asRecord(record[String(value)]);
    if (type === 'special' && isSpecial(value, record['match'])) return asRecord(record['result']);
    if (type === 'range' && value !== null && !Number.isNaN(Number.parseFloat(String(value)))) {
      const number = Number.parseFloat(String(value));
      const from = asNumber(record['from']) ?? Number.NEGATIVE_INFINITY;
      const to = asNumber(record['to']) ?? Number.POSITIVE_INFINITY;
      if (number >= from && number <= to) return asRecord(record['result']);
    }
    if (type === 'regex' && typeof value === 'string' && patternOf(String(record['pattern'])).test(value)) {
      const result: { text?: string; color?: string } = asRecord(record['result']);
      const text =
        result.text === undefined ? undefined : patternOf(String(record['pattern'])).replace(value, result.text);
      return { ...result, ...(text === undefined ? {} : { text }) };
    }
  }
  return undefined;
}

function isSpecial(value: Value, match: unknown): boolean {
  switch (match) {
    case 'null':
    case 'null+nan':
      return value === null;
    case 'true':
    case 'false':
      return String(value) === match;
    case 'empty':
      return value === '';
    default:
      return false;
  }
}

/** Name of the color that the thresholds give a value; undefined without thresholds. */
export function thresholdColor(value: Value, { thresholds, thresholdsMode, min, max }: Display): string | undefined {
  if (typeof value !== 'number') return undefined;
  const low = min ?? 0;
  const measured = thresholdsMode === 'percentage' ? ((value - low) / ((max ?? 100) - low || 1)) * 100 : value;
  return thresholds.reduce<string | undefined>(
    (color, step) => (step.value === null || measured >= step.value ? step.color : color),
    undefined,
  );
}

/** Name of the color of a single value. */
export function valueColor(value: Value, display: Display): string | undefined {
  if (display.colorMode === 'fixed') return display.fixedColor;
  return thresholdColor(value, display);
}

/** Whether a field is shown in the visualization itself, its tooltip, or its legend. */
export function isHiddenFrom({ custom }: Display, where: 'viz' | 'tooltip' | 'legend'): boolean {
  return asRecord(custom['hideFrom'])[where] === true;
}
