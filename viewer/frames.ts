/** What a panel draws of a ClickHouse column; `other` (arrays, tuples, maps) is shown as JSON. */
export type FieldKind = 'time' | 'number' | 'text' | 'other';

/** A cell: times are Unix milliseconds. */
export type Value = number | string | boolean | null;

/** A column of a frame. */
export interface Field {
  readonly name: string;
  /** Its name before a transformation renamed it. */
  readonly originalName?: string;
  readonly kind: FieldKind;
  /** Of a series that was one column with others: the values of the text columns beside it. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly values: readonly Value[];
}

/** The result of one query, by columns. */
export interface Frame {
  readonly refId: string;
  readonly fields: readonly Field[];
}

/** A result in the form of ClickHouse's format JSONCompact. */
export interface CompactResult {
  readonly meta: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly (readonly unknown[])[];
}

/** What a panel draws of a column of this ClickHouse type. */
export function kindOf(type: string): FieldKind {
  const bare = bareType(type);
  if (/^Date(Time)?(64|32)?(\(|$)/.test(bare)) return 'time';
  if (/^(U?Int|Float|BFloat|Decimal)/.test(bare)) return 'number';
  return /^(String|FixedString|Enum|UUID|Bool|IPv)/.test(bare) ? 'text' : 'other';
}

const bareType = (type: string): string =>
  type.replace(/^LowCardinality\((.*)\)$/, '$1').replace(/^Nullable\((.*)\)$/, '$1');

/**
 * A frame of a result.
 * @param timezone of columns without one, as the server names it
 * @param series whether it is a time series: with text columns, each combination of their values is a field per number
 */
export function frameOf(refId: string, { meta, data }: CompactResult, timezone: string, series: boolean): Frame {
  const fields = meta.map(({ name, type }, i): Field => {
    const kind = kindOf(type);
    const read = readerOf(kind, bareType(type), timezone);
    return { name, kind, values: data.map((row) => read(row[i])) };
  });
  return { refId, fields: series ? widened(fields) : fields };
}

function readerOf(kind: FieldKind, type: string, timezone: string): (value: unknown) => Value {
  if (kind === 'time') {
    const zone = /'([^']+)'/.exec(type)?.[1] ?? timezone;
    return (value) => (value === null ? null : timeOf(String(value), zone));
  }
  if (kind === 'number') return (value) => (value === null || !Number.isFinite(Number(value)) ? null : Number(value));
  if (kind === 'other') return (value) => (value === null ? null : JSON.stringify(value));
  return (value) => (typeof value === 'boolean' || value === null ? value : String(value));
}

/** Unix milliseconds of `2026-11-21 10:00:00.250` or `2026-11-21` in a time zone; dates begin at midnight UTC. */
function timeOf(text: string, timezone: string): number {
  const utc = Date.parse(text.length > 10 ? `${text.replace(' ', 'T').slice(0, 23)}Z` : text);
  if (text.length === 10 || timezone === 'UTC' || timezone === 'Etc/UTC') return utc;
  const first = utc - offsetMs(utc, timezone);
  return utc - offsetMs(first, timezone);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function offsetMs(at: number, timeZone: string): number {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset', hour: 'numeric' });
  formats.set(timeZone, format);
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d+):(\d+)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3_600_000 + Number(minutes) * 60_000);
}

/** From one row per time and text to one row per time. */
function widened(fields: readonly Field[]): readonly Field[] {
  const time = fields.find(({ kind }) => kind === 'time');
  const texts = fields.filter(({ kind }) => kind === 'text');
  const numbers = fields.filter(({ kind }) => kind === 'number');
  if (!time || texts.length === 0 || numbers.length === 0) return fields;
  const times = [...new Set(time.values)].filter((at) => at !== null).sort((a, b) => Number(a) - Number(b));
  const rowOf = new Map(times.map((at, row) => [at, row]));
  const series = new Map<string, { name: string; labels: Record<string, string>; values: Value[] }>();
  for (const [i, at] of time.values.entries()) {
    const row = rowOf.get(at ?? -1);
    if (row === undefined) continue;
    const labels = Object.fromEntries(texts.map(({ name, values }) => [name, String(values[i] ?? '')]));
    for (const { name, values } of numbers) {
      const key = JSON.stringify([name, labels]);
      const one = series.get(key) ?? { name, labels, values: new Array<Value>(times.length).fill(null) };
      one.values[row] = values[i] ?? null;
      series.set(key, one);
    }
  }
  return [{ ...time, values: times }, ...[...series.values()].map((one): Field => ({ ...one, kind: 'number' }))];
}
