import type { Field, Frame, Value } from '../frames.js';
import { isCompleteness } from './strokes.js';

/** A join of many equal values would exhaust the memory of the browser. */
const MAX_ROWS = 1_000_000;

type Row = Map<string, Value>;

/** One frame of all: rows that agree in the fields of every frame, and in all that both have, are one row. */
export function merged(frames: readonly Frame[]): readonly Frame[] {
  const filled = frames.filter(({ fields }) => fields.length > 0);
  const [first] = filled;
  if (!first || filled.length < 2) return frames;
  const fields = new Map(filled.flatMap((frame) => frame.fields.map((field) => [field.name, field])));
  const common = [...fields.keys()].filter((name) =>
    filled.every((frame) => frame.fields.some((f) => f.name === name)),
  );
  if (common.length === 0) return frames;
  const rowsByKey = new Map<string, Row[]>();
  const rows: Row[] = [];
  for (const row of filled.flatMap(rowsOf)) {
    const key = JSON.stringify(common.map((name) => row.get(name)));
    const alike = rowsByKey.get(key) ?? [];
    rowsByKey.set(key, alike);
    const mergeable = alike.filter((one) => agrees(one, row));
    for (const one of mergeable) for (const [name, value] of row) one.set(name, value);
    if (mergeable.length > 0) continue;
    alike.push(row);
    rows.push(row);
  }
  const columns = [...fields].map(([name, { kind }]) => ({
    name,
    kind,
    values: rows.map((row) => row.get(name) ?? null),
  }));
  return [{ refId: first.refId, fields: columns }];
}

const rowsOf = ({ fields }: Frame): Row[] =>
  (fields[0]?.values ?? []).map((_, i) => new Map(fields.map(({ name, values }) => [name, values[i] ?? null])));

const agrees = (existing: Row, row: Row): boolean =>
  [...row].every(([name, value]) => (existing.get(name) ?? null) === null || existing.get(name) === value);

export interface JoinOptions {
  /** Name of the field; undefined: the first time of each frame, else the first field that all have. */
  readonly field: string | undefined;
  /** Whether rows without a partner are dropped. */
  readonly isInner: boolean;
}

/**
 * One frame with the fields of all that have the join field. An outer join has one row per value, an inner join one per
 * combination of rows.
 * @throws Error when it would have too many rows
 */
export function joined(frames: readonly Frame[], { field, isInner }: JoinOptions): readonly Frame[] {
  const keyOf =
    field === undefined ? ownKey(frames) : (frame: Frame) => frame.fields.find(({ name }) => name === field);
  const tables = frames.flatMap((frame) => {
    const key = keyOf(frame);
    return key ? [{ frame, key, others: frame.fields.filter((one) => one !== key) }] : [];
  });
  const [first] = tables;
  if (!first || frames.length < 2) return frames;
  const picks = isInner
    ? innerRows(tables.map(({ key }) => key.values))
    : outerRows(tables.map(({ key }) => key.values));
  const pick = ({ values }: Field, table: number) => picks.rows.map((row) => values[row[table] ?? -1] ?? null);
  const fields = [
    { ...first.key, values: picks.keys },
    ...tables.flatMap(({ others }, table) => others.map((one) => ({ ...one, values: pick(one, table) }))),
  ];
  return [{ refId: first.frame.refId, fields: numbered(withOneCompleteness(fields)) }];
}

function ownKey(frames: readonly Frame[]): (frame: Frame) => Field | undefined {
  const isTimed = frames[0]?.fields.some(({ kind }) => kind === 'time');
  if (isTimed) return ({ fields }) => fields.find(({ kind }) => kind === 'time');
  const name = frames[0]?.fields.find((one) =>
    frames.every(({ fields }) => fields.some((f) => f.name === one.name)),
  )?.name;
  return ({ fields }) => fields.find((one) => one.name === name);
}

/**
 * The first frame with the fields of those others that have one row per time, by its times. Times that it lacks are rows with their
 * fields alone, in order; so what is missing where the first frame has nothing is shown too.
 * @returns also how many frames are left out, which have no time or several rows of one
 */
export function besideTimes([first, ...others]: readonly Frame[]): { frame: Frame | undefined; left: number } {
  const isTime = ({ kind }: Field) => kind === 'time';
  const key = first?.fields.find(isTime);
  if (!first || !key) return { frame: first, left: others.length };
  const beside = others.flatMap((frame) => {
    const times = frame.fields.find(isTime);
    const rows = new Map(times?.values.map((time, row) => [time, row]));
    const fields = frame.fields.filter((field) => field !== times);
    return times && rows.size === times.values.length ? [{ rows, fields }] : [];
  });
  if (beside.length === 0) return { frame: first, left: others.length };
  const own = new Set(key.values);
  const lacking = [...new Set(beside.flatMap(({ rows }) => [...rows.keys()]))].filter((time) => !own.has(time));
  const rows = [
    ...key.values.map((time, row) => ({ time, row })),
    ...lacking.map((time) => ({ time, row: undefined })),
  ].sort((a, b) => Number(a.time) - Number(b.time));
  const fields = [
    ...first.fields.map((field) => ({
      ...field,
      values: rows.map(({ time, row }) =>
        row === undefined ? (field === key ? time : null) : (field.values[row] ?? null),
      ),
    })),
    ...beside.flatMap(({ rows: index, fields }) =>
      fields.map((field) => ({
        ...field,
        values: rows.map(({ time }) => field.values[index.get(time) ?? -1] ?? null),
      })),
    ),
  ];
  return { frame: { refId: first.refId, fields: numbered(fields) }, left: others.length - beside.length };
}

/** The rows of a join: their keys, and which row of each table is in them. */
interface Picks {
  readonly keys: readonly Value[];
  readonly rows: readonly (readonly (number | undefined)[])[];
}

/** Of several rows with the same value, the last. */
function outerRows(columns: readonly (readonly Value[])[]): Picks {
  const indexes = columns.map((values) => new Map(values.map((value, row) => [value, row])));
  const keys = [...new Set(columns.flat())].filter((value) => value !== null);
  if (keys.every((key) => typeof key === 'number')) keys.sort((a, b) => Number(a) - Number(b));
  return { keys, rows: keys.map((key) => indexes.map((index) => index.get(key))) };
}

function innerRows([first = [], ...others]: readonly (readonly Value[])[]): Picks {
  let rows = first.map((key, row) => ({ key, picked: [row] }));
  for (const values of others) {
    const index = new Map<Value, number[]>();
    for (const [row, value] of values.entries()) index.set(value, [...(index.get(value) ?? []), row]);
    const count = rows.reduce((sum, { key }) => sum + (index.get(key)?.length ?? 0), 0);
    if (count > MAX_ROWS) throw new Error(`the transformation joinByField makes ${count} rows, more than ${MAX_ROWS}`);
    rows = rows.flatMap(({ key, picked }) => (index.get(key) ?? []).map((row) => ({ key, picked: [...picked, row] })));
  }
  return { keys: rows.map(({ key }) => key), rows: rows.map(({ picked }) => picked) };
}

/** A row is as incomplete as the least complete of the rows that it joins. */
function withOneCompleteness(fields: readonly Field[]): Field[] {
  return fields.flatMap((field, i) => {
    if (!isCompleteness(field.name)) return [field];
    const alike = fields.filter(({ name }) => name === field.name);
    if (fields.findIndex(({ name }) => name === field.name) !== i) return [];
    const worst = field.name.endsWith('missing') ? Math.max : Math.min;
    const worstAt = (row: number): Value => {
      const known = alike.map(({ values }) => values[row]).filter((value) => typeof value === 'number');
      return known.length === 0 ? null : worst(...known);
    };
    return [{ ...field, values: field.values.map((_, row) => worstAt(row)) }];
  });
}

/** Several fields of one name get a number, as in Grafana: `value 1`, `value 2`. Completeness keeps its name. */
function numbered(fields: readonly Field[]): Field[] {
  const isOwn = (field: Field) => field.labels !== undefined || isCompleteness(field.name);
  const counts = new Map<string, number>();
  return fields.map((field) => {
    if (isOwn(field) || fields.filter((one) => !isOwn(one) && one.name === field.name).length < 2) return field;
    const number = (counts.get(field.name) ?? 0) + 1;
    counts.set(field.name, number);
    return { ...field, name: `${field.name} ${number}`, originalName: field.name };
  });
}
