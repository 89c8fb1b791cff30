import type { Field, Frame, Value } from '../frames.js';
import { calculationName, isCalculation, reduceValues } from './calculations.js';
import { asRecord, asText, fieldName } from './fields.js';
import { joined, merged } from './joins.js';
import { patternOf } from './pattern.js';
import { isCompleteness } from './strokes.js';

/** A transformation of a panel's data, as in its file. */
export interface Transformation {
  readonly id: string;
  readonly options?: unknown;
  readonly disabled?: boolean | null | undefined;
  readonly filter?: unknown;
  readonly topic?: string | null | undefined;
}

type Options = Readonly<Record<string, unknown>>;
type Transform = (frames: readonly Frame[], options: Options, keepsCompleteness: boolean) => readonly Frame[];

const TRANSFORMS: Readonly<Record<string, Transform>> = {
  organize: organized,
  filterFieldsByName: filtered,
  sortBy: (frames, options) => frames.map((frame) => sorted(frame, options)),
  merge: (frames) => merged(frames),
  joinByField: (frames, options) =>
    joined(frames, { field: asText(options['byField']) || undefined, isInner: options['mode'] === 'inner' }),
  seriesToColumns: (frames, options) =>
    joined(frames, { field: asText(options['byField']) || undefined, isInner: false }),
  reduce: reduced,
};

/** What the viewer does not support of transformations: without one of them, a figure would be false. */
export function unsupportedTransformation(transformations: readonly Transformation[]): string | undefined {
  for (const { id, options, disabled, filter, topic } of transformations) {
    if (disabled === true) continue;
    if (!Object.hasOwn(TRANSFORMS, id)) return `the transformation ${id}`;
    if (filter) return `a filter of the transformation ${id}`;
    if (topic && topic !== 'series') return `transformations of ${topic}`;
    const problem = unsupportedOption(id, asRecord(options));
    if (problem !== undefined) return `${problem} of the transformation ${id}`;
  }
  return undefined;
}

function unsupportedOption(id: string, options: Options): string | undefined {
  if (id === 'organize' && (options['fieldOrder'] ?? options['orderByMode']) === 'auto') return 'automatic order';
  if (id === 'filterFieldsByName' && options['byVariable'] === true) return 'variables';
  if (id === 'joinByField' && options['mode'] === 'outerTabular') return 'the mode outerTabular';
  if (id !== 'reduce') return undefined;
  if (options['fields']) return 'a choice of fields';
  const unknown = reducersOf(options).find((name) => !isCalculation(name));
  return unknown === undefined ? undefined : `the calculation ${unknown}`;
}

/**
 * Frames after the transformations of a panel, which `unsupportedTransformation` has accepted.
 * @param keepsCompleteness whether columns that say what is missing stay: a chart must not lose its gaps
 */
export function transformed(
  frames: readonly Frame[],
  transformations: readonly Transformation[],
  keepsCompleteness: boolean,
): readonly Frame[] {
  return transformations
    .filter(({ disabled }) => disabled !== true)
    .reduce(
      (before, { id, options }) => TRANSFORMS[id]?.(before, asRecord(options), keepsCompleteness) ?? before,
      frames,
    );
}

const namesOf = (value: unknown): string[] =>
  Object.entries(asRecord(value)).flatMap(([name, chosen]) => (chosen === true ? [name] : []));

/** Leaves fields out, then orders them, then renames them. */
function organized(frames: readonly Frame[], options: Options, keepsCompleteness: boolean): readonly Frame[] {
  const include = namesOf(options['includeByName']);
  const kept = filtered(
    frames,
    {
      ...(include.length > 0 ? { include: { names: include } } : {}),
      exclude: { names: namesOf(options['excludeByName']) },
    },
    keepsCompleteness,
  );
  const indexes = asRecord(options['indexByName']);
  const names = asRecord(options['renameByName']);
  return kept.map((frame) => {
    const indexOf = (field: Field) => Number(indexes[fieldName(field, frame)] ?? Number.MAX_SAFE_INTEGER);
    const fields = [...frame.fields]
      .sort((a, b) => indexOf(a) - indexOf(b))
      .map((field) => {
        const name = asText(names[fieldName(field, frame)]);
        if (!name || (keepsCompleteness && isCompleteness(field.name))) return field;
        return { name, originalName: field.name, kind: field.kind, values: field.values };
      });
    return { ...frame, fields };
  });
}

function filtered(frames: readonly Frame[], options: Options, keepsCompleteness: boolean): readonly Frame[] {
  const include = matcherOf(asRecord(options['include']));
  const exclude = matcherOf(asRecord(options['exclude']));
  return frames
    .map((frame) => ({
      ...frame,
      fields: frame.fields.filter((field) => {
        if (keepsCompleteness && isCompleteness(field.name)) return true;
        const names = [field.name, fieldName(field, frame)];
        return exclude?.(names) !== true && include?.(names) !== false;
      }),
    }))
    .filter(({ fields }) => fields.length > 0);
}

/** Undefined where the options choose nothing. */
function matcherOf({ names, pattern }: Options): ((of: readonly string[]) => boolean) | undefined {
  const listed = Array.isArray(names) ? names.map(String) : [];
  const text = asText(pattern) || undefined;
  if (listed.length === 0 && text === undefined) return undefined;
  const expression = text === undefined ? undefined : patternOf(text);
  return (of) => of.some((name) => listed.includes(name) || expression?.test(name) === true);
}

/** By the first entry of `sort`, as Grafana does; NULL is last. */
function sorted(frame: Frame, options: Options): Frame {
  const { field: wanted, desc } = asRecord(Array.isArray(options['sort']) ? options['sort'][0] : undefined);
  const field = frame.fields.find((one) => fieldName(one, frame) === wanted || one.name === wanted);
  if (!field) return frame;
  const sign = desc === true ? -1 : 1;
  const order = field.values.map((_, row) => row);
  order.sort((a, b) => {
    const [left, right] = [field.values[a] ?? null, field.values[b] ?? null];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * compared(left, right);
  });
  return {
    ...frame,
    fields: frame.fields.map((one) => ({ ...one, values: order.map((row) => one.values[row] ?? null) })),
  };
}

const collator = new Intl.Collator('en-US');

function compared(left: NonNullable<Value>, right: NonNullable<Value>): number {
  if (typeof left === 'string' && typeof right === 'string') return collator.compare(left, right);
  return Number(left) - Number(right);
}

const reducersOf = (options: Options): string[] =>
  Array.isArray(options['reducers']) ? options['reducers'].map(String) : [];

/** A row per field, or one row with the same fields. */
function reduced(frames: readonly Frame[], options: Options): readonly Frame[] {
  const reducers = reducersOf(options);
  const [first] = frames;
  if (reducers.length === 0 || !first) return frames;
  if (options['mode'] === 'reduceFields') {
    const keeps = (field: Field) => options['includeTimeField'] === true || field.kind !== 'time';
    return frames.map((frame) => ({
      ...frame,
      fields: frame.fields.filter(keeps).flatMap((field) => reducers.map((one) => reducedField(field, one, reducers))),
    }));
  }
  const all = frames.flatMap((frame) =>
    frame.fields.filter(({ kind }) => kind !== 'time').map((field) => ({ field, name: fieldName(field, frame) })),
  );
  const withLabels = options['labelsToFields'] === true;
  const labels = withLabels ? [...new Set(all.flatMap(({ field }) => Object.keys(field.labels ?? {})))] : [];
  const text = (name: string, values: Value[]): Field => ({ name, kind: 'text', values });
  return [
    {
      refId: first.refId,
      fields: [
        text(
          'Field',
          all.map(({ field, name }) => (withLabels ? field.name : name)),
        ),
        ...labels.map((label) =>
          text(
            label,
            all.map(({ field }) => field.labels?.[label] ?? null),
          ),
        ),
        ...reducers.map((one): Field => {
          const values = all.map(({ field }) => reduceValues(field.values, one));
          return { name: calculationName(one), kind: kindOf(values), values };
        }),
      ],
    },
  ];
}

function reducedField(field: Field, reducer: string, reducers: readonly string[]): Field {
  const value = reduceValues(field.values, reducer);
  const labels = reducers.length > 1 ? { labels: { ...field.labels, reducer: calculationName(reducer) } } : {};
  const kind = field.kind === 'time' && reducer !== 'count' ? 'time' : kindOf([value]);
  return { ...field, ...labels, kind, values: [value] };
}

function kindOf(values: readonly Value[]): Field['kind'] {
  const known = values.filter((value) => value !== null);
  return known.length === 0 || known.some((value) => typeof value === 'number') ? 'number' : 'text';
}
